// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import com.codahale.metrics.Gauge;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.rdma.Device;
import dev.sluice.spark.RdmaShuffle;
import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.SluiceShuffle;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DriverChannel;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Sluice's shuffle manager with a device and a driver channel that can be disturbed. The harness
 * sets it as {@code spark.shuffle.manager}; Spark creates and stops it in driver and executors.
 * Only executors are disturbed.
 */
public final class ChaosShuffleManager extends RdmaShuffleManager {
  /** Setting: the directory in which driver and executors exchange orders and answers. */
  public static final String DIRECTORY = "spark.sluice.chaos.directory";

  public ChaosShuffleManager(SparkConf conf, boolean isDriver) {
    this(conf, isDriver, new ChaosBackends());
  }

  private ChaosShuffleManager(SparkConf conf, boolean isDriver, ChaosBackends outside) {
    super(
        conf,
        stock ->
            isDriver
                ? RdmaShuffle.create(conf, true, stock) // the driver is not disturbed
                : new SluiceShuffle(conf, false, stock, outside));
    if (!isDriver) {
      outside.start(Path.of(conf.get(DIRECTORY)), this::unregisterShuffle);
    }
  }

  /**
   * Wraps an executor's device and its channel to the driver, to disturb them as the agent is
   * ordered. {@link ChaosShuffleManager} creates and starts it, and gives it to Sluice, which opens
   * channel and device through it. The agent's thread carries out orders ({@code ordered}) and
   * reports the {@code status}; the thread {@code chaos-serving} breaks queue pairs. Both end with
   * the process.
   */
  private static final class ChaosBackends implements SluiceShuffle.ExecutorBackends {
    /** Period of SERVER_ERROR's decisions: {@link Injection} promises 50 a second. */
    private static final long SERVER_ERROR_PERIOD_MS = 20;

    private final ReadAudit audit = new ReadAudit();
    private final TakenMappings mappings = new TakenMappings();

    // Set by start(), which comes first.
    @SuppressWarnings("NullAway.Init")
    private ChaosAgent agent;

    @SuppressWarnings("NullAway.Init")
    private ControlProxy proxy;

    @SuppressWarnings("NullAway.Init")
    private IntConsumer unregister;

    private boolean disturbed;

    /** The opened device; null before tasks run. */
    private volatile @Nullable ChaosDevice device;

    /**
     * Starts the agent, before tasks run.
     *
     * @param directory directory of the orders
     * @param unregister unregisterShuffle of this executor
     */
    void start(Path directory, IntConsumer unregister) {
      this.unregister = unregister;
      agent = new ChaosAgent(directory, SparkEnv.get().executorId(), this::status, this::ordered);
      proxy = new ControlProxy(agent);
      agent.start();
      Thread.ofPlatform().daemon().name("chaos-serving").start(this::disturbServing);
    }

    @Override
    public DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return new ChaosDriverChannel(
          SluiceShuffle.ExecutorBackends.super.openDriverChannel(env, conf), agent, proxy);
    }

    @Override
    public Device openDevice(SluiceConf conf, String host, Consumer<String> refused)
        throws IOException {
      device =
          new ChaosDevice(
              SluiceShuffle.ExecutorBackends.super.openDevice(conf, host, refused), agent, audit);
      return device.wrapped();
    }

    private void ordered() throws IOException {
      boolean disturbs = agent.disturbsControl();
      if (disturbs || disturbed) {
        proxy.cutAll(); // including connections that an earlier order left half-open
      }
      disturbed = disturbs;
      proxy.listen(!agent.strikes(Injection.CONTROL_REFUSED));
      mappings.take(agent.strikesHere(Injection.MAPPINGS_TAKEN));
      if (agent.mayStrike(Injection.UNREGISTERED)) {
        shuffleFiles().stream()
            .mapToInt(ChaosBackends::shuffle)
            .distinct()
            .filter(_ -> agent.strikes(Injection.UNREGISTERED))
            .forEach(unregister);
      }
    }

    private void disturbServing() {
      try {
        while (true) {
          Thread.sleep(SERVER_ERROR_PERIOD_MS);
          if (device != null && agent.mayStrike(Injection.SERVER_ERROR)) {
            device.disturbServing();
          }
        }
      } catch (InterruptedException e) {
        // The process ends.
      }
    }

    private Status status(long sequence) {
      ChaosDevice opened = device;
      return new Status(
          sequence,
          agent.hits(),
          opened == null ? 0 : opened.servedRegions(),
          opened == null ? 0 : opened.queuePairs(false),
          opened == null ? 0 : opened.queuePairs(true),
          opened == null ? 0 : opened.mostBroken(),
          audit.underWay(),
          audit.overlaps(),
          shuffleFiles(),
          ChaosAgent.liveHeapBytes(),
          counters());
    }

    private static List<String> shuffleFiles() {
      return CollectionConverters.asJava(
              SparkEnv.get().blockManager().diskBlockManager().getAllFiles())
          .stream()
          .map(File::getName)
          .filter(name -> name.startsWith("shuffle_"))
          .toList();
    }

    /** Returns the shuffle id in a name such as {@code shuffle_3_17_0.data}. */
    private static int shuffle(String file) {
      return Integer.parseInt(file.split("_")[1]);
    }

    private static Map<String, Long> counters() {
      Map<String, Long> counters = new TreeMap<>();
      CollectionConverters.asJava(SparkEnv.get().metricsSystem().getSourcesByName("sluice"))
          .forEach(
              source ->
                  source
                      .metricRegistry()
                      .getGauges()
                      .forEach(
                          (name, gauge) -> {
                            // The version is a text.
                            if (((Gauge<?>) gauge).getValue() instanceof Long count) {
                              counters.put(name, count);
                            }
                          }));
      return counters;
    }

    /**
     * Takes the mappings that this process may still have by vm.max_map_count, and gives them back.
     * {@link ChaosBackends} has one; only the agent's thread uses it, and gives the mappings back
     * at the next order without the injection.
     */
    static final class TakenMappings {
      /** Mappings left for the JVM, such as for a few thread stacks. */
      private static final int LEFT = 10;

      private static final int PAGE_BYTES = 4096;

      private @Nullable Arena arena;

      /** Takes all mappings, or gives all back. */
      void take(boolean all) {
        if (all && arena == null) {
          arena = Arena.ofShared();
          try {
            takeAll(arena);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        } else if (!all && arena != null) {
          arena.close();
          arena = null;
        }
      }

      /**
       * Maps one page of a file repeatedly: the kernel does not merge mappings of the same page.
       */
      private static void takeAll(Arena arena) throws IOException {
        Path file = Files.createTempFile("mapped", null);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.READ);
            // A single read: a second read of a sysctl returns its end.
            BufferedReader sysctl = Files.newBufferedReader(Path.of("/proc/sys/vm/max_map_count"));
            Stream<String> own = Files.lines(Path.of("/proc/self/maps"))) {
          channel.truncate(0).write(ByteBuffer.allocate(PAGE_BYTES));
          long limit = Long.parseLong(sysctl.readLine());
          for (long left = limit - own.count() - LEFT; left > 0; left--) {
            channel.map(MapMode.READ_ONLY, 0, PAGE_BYTES, arena);
          }
        } finally {
          Files.delete(file);
        }
      }
    }
  }
}
