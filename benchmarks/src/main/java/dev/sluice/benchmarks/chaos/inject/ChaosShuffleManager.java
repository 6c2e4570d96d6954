package dev.sluice.benchmarks.chaos.inject;

import com.codahale.metrics.Gauge;
import dev.sluice.spark.RdmaShuffle;
import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.SluiceShuffle;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Sluice as it is, behind a device and a way to the driver that can be disturbed. What the harness
 * sets as {@code spark.shuffle.manager}.
 */
public final class ChaosShuffleManager extends RdmaShuffleManager {
  /** Where driver and executors exchange orders and answers. */
  public static final String DIRECTORY = "spark.sluice.chaos.directory";

  private static final long SERVER_ERROR_PERIOD_MS = 20;

  private final TakenMappings mappings = new TakenMappings();
  private final ChaosOutside outside;
  private boolean disturbed;

  public ChaosShuffleManager(SparkConf conf, boolean isDriver) {
    ChaosOutside chaos = new ChaosOutside();
    super(
        conf,
        stock ->
            isDriver
                ? RdmaShuffle.create(conf, true, stock) // nothing of a driver's is disturbed
                : new SluiceShuffle(conf, false, stock, chaos));
    outside = chaos;
    if (!isDriver) {
      ChaosAgent agent =
          new ChaosAgent(
              Path.of(conf.get(DIRECTORY)),
              SparkEnv.get().executorId(),
              this::status,
              this::ordered);
      outside.disturbedBy(agent);
      agent.start();
      Thread.ofPlatform().daemon().name("chaos-serving").start(this::disturbServing);
    }
  }

  private ChaosAgent agent() {
    return outside.agent();
  }

  private void ordered() throws IOException {
    boolean disturbs = agent().disturbsControl();
    if (disturbs || disturbed) {
      outside.proxy().cutAll(); // also those that an earlier order has left half-open
    }
    disturbed = disturbs;
    outside.proxy().listen(!agent().strikes(Injection.CONTROL_REFUSED));
    mappings.take(agent().strikesHere(Injection.MAPPINGS_TAKEN));
    if (agent().mayStrike(Injection.UNREGISTERED)) {
      shuffleFiles().stream()
          .map(ChaosShuffleManager::shuffle)
          .distinct()
          .filter(_ -> agent().strikes(Injection.UNREGISTERED))
          .forEach(this::unregisterShuffle);
    }
  }

  private void disturbServing() {
    try {
      while (true) {
        Thread.sleep(SERVER_ERROR_PERIOD_MS);
        ChaosDevice opened = outside.device();
        if (opened != null && agent().mayStrike(Injection.SERVER_ERROR)) {
          opened.disturbServing();
        }
      }
    } catch (InterruptedException e) {
      // The process ends.
    }
  }

  private Status status(long sequence) {
    ChaosDevice opened = outside.device();
    return new Status(
        sequence,
        agent().hits(),
        opened == null ? 0 : opened.servedRegions(),
        opened == null ? 0 : opened.queuePairs(false),
        opened == null ? 0 : opened.queuePairs(true),
        opened == null ? 0 : opened.mostBroken(),
        outside.audit().underWay(),
        outside.audit().overlaps(),
        shuffleFiles(),
        LiveHeap.bytes(),
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

  /** Of a name such as {@code shuffle_3_17_0.data}. */
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
                        (name, gauge) -> counters.put(name, (Long) ((Gauge<?>) gauge).getValue())));
    return counters;
  }
}
