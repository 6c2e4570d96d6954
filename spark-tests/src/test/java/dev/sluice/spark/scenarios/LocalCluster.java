// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * A Spark application with its driver in this JVM and two executors in their own, which do not read
 * each other's files from disk. The caller that starts it closes it. For one thread.
 */
public final class LocalCluster implements AutoCloseable {
  /** Key of the executors' Java options, which the build sets. */
  public static final String EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions";

  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";

  /**
   * Key of the time for which Spark waits for the exit code of an executor that it told to end; 5 s
   * by default.
   */
  public static final String REMOVE_DELAY = "spark.standalone.executorRemoveDelayOnDisconnection";

  /**
   * Timeouts above Sluice's defaults, and no hedges. Scenarios assert that all blocks are READ, and
   * a busy machine may stall a process for longer than the defaults. {@link HedgeIT} and {@link
   * NodeIT} have scenarios with hedges.
   */
  public static final Map<String, String> PATIENCE =
      Map.of(
          "spark.shuffle.rdma.connect.timeout", "30s",
          "spark.shuffle.rdma.locate.timeout", "30s",
          "spark.shuffle.rdma.node.timeout", "60s",
          "spark.shuffle.rdma.read.hedge", "false");

  /** Map outputs of {@link #awaitTotals}. */
  static final int REPORTING_MAPS = 2;

  /** Time in which a report of an idle executor arrives. */
  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long LISTENER_TIMEOUT_MS = 30_000;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final SparkSession session;
  private final ReadMetrics metrics = new ReadMetrics();

  private LocalCluster(SparkConf conf) {
    this.session = SparkSession.builder().config(conf).getOrCreate();
    session.sparkContext().addSparkListener(metrics);
  }

  /**
   * @param settings alternating keys and values, which override those of {@link #conf}
   */
  public static LocalCluster start(String... settings) {
    return new LocalCluster(conf(settings));
  }

  /**
   * Two executors of one core, provider "soft", then {@code settings}, alternating keys and values.
   */
  static SparkConf conf(String... settings) {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local-cluster[2,1,1024]")
            .setAppName("scenario")
            .set("spark.shuffle.manager", System.getProperty("spark.shuffle.manager"))
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.readHostLocalDisk", "false")
            .set(EXECUTOR_OPTIONS, System.getProperty(EXECUTOR_OPTIONS))
            .set(EXECUTOR_CLASS_PATH, System.getProperty(EXECUTOR_CLASS_PATH))
            // Start no task before both executors are registered: the first one would have all map
            // outputs.
            .set("spark.cores.max", "2")
            .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "5min")
            .set("spark.ui.enabled", "false");
    PATIENCE.forEach(conf::set);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return conf;
  }

  SparkSession session() {
    return session;
  }

  public JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext(session.sparkContext());
  }

  /** Runs the map tasks of the shuffle that ends in {@code rdd}, which it returns. */
  ShuffleDependency<?, ?, ?> write(JavaPairRDD<?, ?> rdd) throws SparkException {
    ShuffleDependency<?, ?, ?> shuffle = KnownShuffle.dependency(rdd);
    session.sparkContext().submitMapStage(shuffle).get();
    return shuffle;
  }

  /** Waits a minute at most. */
  static void await(String what, BooleanSupplier condition) throws InterruptedException {
    await(what, TIMEOUT, condition);
  }

  static void await(String what, Duration timeout, BooleanSupplier condition)
      throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waiting for %s", what).isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /**
   * Waits a minute at most for totals. Executors report a moment after their last task, and miss
   * changes after that. Small tasks therefore read a shuffle from time to time, which has {@link
   * #REPORTING_MAPS} map outputs.
   */
  void awaitTotals(String what, Predicate<Totals> condition) throws InterruptedException {
    List<Integer> numbers = IntStream.range(0, 20).boxed().toList();
    JavaPairRDD<Integer, Integer> shuffled =
        context()
            .parallelize(numbers, REPORTING_MAPS)
            .mapToPair(number -> new Tuple2<>(number, number))
            .partitionBy(new HashPartitioner(REPORTING_MAPS));
    AtomicLong lastJob = new AtomicLong(System.nanoTime() - REPORT_NANOS);
    await(
        what,
        () -> {
          if (System.nanoTime() - lastJob.get() >= REPORT_NANOS) {
            shuffled.count();
            lastJob.set(System.nanoTime());
          }
          return condition.test(totals());
        });
  }

  /** Blocks and bytes by path, of driver and executors, once they have all reported. */
  public Totals totals() {
    return ManagerTotals.settled(SparkEnv.get().shuffleManager(), metrics().counted());
  }

  /** Sums of Spark's own task metrics. */
  public ReadMetrics.Sums metrics() {
    SparkContext context = session.sparkContext();
    try {
      context.listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("Task metrics have not arrived", e);
    }
    return metrics.sums();
  }

  /** The executors' processes. */
  public List<ProcessHandle> executors() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/java"))
        .toList();
  }

  @Override
  public void close() {
    session.stop();
  }

  /** Sums up the tasks' shuffle read metrics; called on Spark's listener thread. */
  public static final class ReadMetrics extends SparkListener {
    /**
     * @param counted blocks that the manager counts as well
     */
    public record Sums(
        long remoteBlocks,
        long remoteBytes,
        long remoteBytesToDisk,
        long localBlocks,
        long counted) {}

    private Sums sums = new Sums(0, 0, 0, 0, 0);

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskMetrics() != null) {
        var read = end.taskMetrics().shuffleReadMetrics();
        sums =
            new Sums(
                sums.remoteBlocks + read.remoteBlocksFetched(),
                sums.remoteBytes + read.remoteBytesRead(),
                sums.remoteBytesToDisk + read.remoteBytesReadToDisk(),
                sums.localBlocks + read.localBlocksFetched(),
                sums.counted + ManagerTotals.blocks(read));
      }
    }

    synchronized Sums sums() {
      return sums;
    }
  }
}
