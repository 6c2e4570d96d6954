// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import com.codahale.metrics.Gauge;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.rdma.Device;
import dev.sluice.spark.SluiceShuffle;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DriverChannel;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.spark.SparkEnv;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Wraps an executor's device and its channel to the driver, to disturb them as the agent is
 * ordered. {@link ChaosShuffleManager} creates and starts it, and gives it to Sluice, which opens
 * channel and device through it. The agent's thread carries out orders ({@code ordered}); the
 * thread {@code chaos-serving} breaks queue pairs. Ends with the process.
 */
final class ChaosBackends implements SluiceShuffle.ExecutorBackends {
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
  public Device openDevice(SluiceConf conf, String host) throws IOException {
    device =
        new ChaosDevice(SluiceShuffle.ExecutorBackends.super.openDevice(conf, host), agent, audit);
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
}
