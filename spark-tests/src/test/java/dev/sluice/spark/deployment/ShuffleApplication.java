// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import dev.sluice.spark.account.BlockLines;
import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.account.WorkDirectory;
import dev.sluice.spark.scenarios.Gate;
import dev.sluice.spark.scenarios.KnownShuffle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.util.RpcUtils;
import scala.reflect.ClassTag$;

/**
 * The application that the deployment tests submit. After each shuffle it prints whether the answer
 * was right, and {@code counter=value} for all counters: see {@link Round}. Its argument selects
 * the work.
 */
public final class ShuffleApplication {
  /** Runs one shuffle. */
  static final String SHUFFLE = "shuffle";

  /**
   * Runs three shuffles. The first is a usual one. The second has some map outputs of an executor
   * that left in the middle of the job. The third reads the first one's map outputs again after all
   * executors have left.
   */
  static final String LEAVE = "leave";

  /**
   * Runs one shuffle. Then, twice: waits until all executors have left and the test has made the
   * file {@link #goOn}, reads the map outputs of each earlier shuffle again, and runs another one.
   */
  static final String READ_AGAIN = "read-again";

  /** Runs one shuffle, then waits until the executors' logs report all of its blocks. */
  static final String SAID = "said";

  /** Runs one shuffle whose executors cannot reach the location directory on the driver. */
  static final String WITHOUT_DIRECTORY = "without-directory";

  /** Runs one shuffle, after an executor has sent the directory a message that it cannot decode. */
  static final String MISUNDERSTOOD = "misunderstood";

  /**
   * Runs one shuffle and prints the names of Sluice's metrics in Spark's sinks: see {@link
   * Observations}.
   */
  static final String OBSERVED = "observed";

  /** Precedes the answer that the executor got to that message. */
  static final String REFUSAL = "REFUSAL";

  static final String ROUND = "ROUND";

  /** Work directory of the Worker, relative to the folder in which the driver starts. */
  static final Path WORK = Path.of("worker-0", "work");

  static final int PARTITIONS = 8;
  private static final Duration LEAVE_TIMEOUT = Duration.ofMinutes(2);
  private static final Duration LOG_TIMEOUT = Duration.ofMinutes(1);

  /** Longer than the other application of a test takes to get as far. */
  private static final Duration FILE_TIMEOUT = Duration.ofMinutes(4);

  private final JavaSparkContext context;
  private final FetchedBlocks fetched = new FetchedBlocks();

  private ShuffleApplication(JavaSparkContext context) {
    this.context = context;
    context.sc().addSparkListener(fetched);
  }

  public static void main(String[] args) throws Exception {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      new ShuffleApplication(context).run(args[0]);
    }
  }

  private void run(String what) throws Exception {
    JavaPairRDD<Integer, byte[]> shuffled = KnownShuffle.SMALL.repartitioned(context, PARTITIONS);
    shuffled.rdd().dependencies(); // registers the shuffle, and thereby starts the directory
    switch (what) {
      case WITHOUT_DIRECTORY -> SparkEnv.get().rpcEnv().stop(directory());
      case MISUNDERSTOOD ->
          System.out.println(
              REFUSAL + context.parallelize(List.of(1), 1).map(one -> refusal()).first());
      default -> {}
    }
    round(KnownShuffle.answerOf(shuffled));
    if (what.equals(LEAVE)) {
      round(answerWhileAnExecutorLeaves(shuffled));
      awaitExecutors(0);
      round(KnownShuffle.answerOf(shuffled));
    }
    if (what.equals(READ_AGAIN)) {
      readAgain(shuffled);
    }
    if (what.equals(SAID)) {
      awaitLogs();
    }
    if (what.equals(OBSERVED)) {
      Observations.print(context);
    }
  }

  /** Name of the file, in the driver's directory, for which {@link #READ_AGAIN} waits. */
  static String goOn(int time) {
    return "go-on-" + time;
  }

  private void readAgain(JavaPairRDD<Integer, byte[]> first) throws Exception {
    List<JavaPairRDD<Integer, byte[]>> written = new ArrayList<>(List.of(first));
    for (int time = 1; time <= 2; time++) {
      awaitExecutors(0);
      awaitFile(Path.of(goOn(time)));
      for (JavaPairRDD<Integer, byte[]> shuffled : written) {
        round(KnownShuffle.answerOf(shuffled));
      }
      JavaPairRDD<Integer, byte[]> next = KnownShuffle.SMALL.repartitioned(context, PARTITIONS);
      round(KnownShuffle.answerOf(next));
      written.add(next);
    }
  }

  private static void awaitFile(Path file) throws InterruptedException {
    long deadline = System.nanoTime() + FILE_TIMEOUT.toNanos();
    while (Files.notExists(file)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("There is no " + file + " after " + FILE_TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private void awaitLogs() throws Exception {
    WorkDirectory work = new WorkDirectory(WORK);
    long deadline = System.nanoTime() + LOG_TIMEOUT.toNanos();
    while (BlockLines.ofExecutors(work.logs(context.sc().applicationId())).blocks()
        < fetched.blocks.get()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("Executors have not said in " + LOG_TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private static RpcEndpointRef directory() {
    SparkEnv env = SparkEnv.get();
    return RpcUtils.makeDriverRef("SluiceLocationDirectory", env.conf(), env.rpcEnv());
  }

  private static String refusal() {
    try {
      directory().askSync(new byte[] {-1, -1, -1}, ClassTag$.MODULE$.apply(byte[].class));
      return "";
    } catch (Exception e) {
      return e + " because of " + e.getCause();
    }
  }

  /** A task of the middle stage waits until the idle executor has left. */
  private Map<Integer, Long> answerWhileAnExecutorLeaves(JavaPairRDD<Integer, byte[]> shuffled)
      throws Exception {
    Gate gate = Gate.create(Path.of("").toAbsolutePath());
    JavaPairRDD<Integer, byte[]> again =
        shuffled
            .mapPartitionsToPair(
                records -> TaskContext.getPartitionId() == 0 ? gate.pass(records) : records)
            .partitionBy(new HashPartitioner(PARTITIONS + 1));
    CompletableFuture<Map<Integer, Long>> answer =
        CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(again));
    gate.awaitArrivals(1);
    awaitExecutors(1);
    gate.open();
    return answer.get(LEAVE_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
  }

  private void round(Map<Integer, Long> answer) throws TimeoutException {
    boolean right = answer.equals(KnownShuffle.SMALL.answer());
    context.sc().listenerBus().waitUntilEmpty(LEAVE_TIMEOUT.toMillis());
    Totals totals = ManagerTotals.settled(SparkEnv.get().shuffleManager(), fetched.blocks.get());
    StringBuilder line = new StringBuilder(ROUND).append(" right=").append(right ? 1 : 0);
    totals.counters().forEach((name, value) -> line.append(' ').append(name + "=" + value));
    System.out.println(line);
  }

  private void awaitExecutors(int executors) throws InterruptedException {
    long deadline = System.nanoTime() + LEAVE_TIMEOUT.toNanos();
    // The driver counts as one.
    while (context.sc().statusTracker().getExecutorInfos().length > executors + 1) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("Executors have not left in " + LEAVE_TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /** Counts as Spark's task metrics do. */
  private static final class FetchedBlocks extends SparkListener {
    private final AtomicLong blocks = new AtomicLong();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskMetrics() != null) {
        blocks.addAndGet(end.taskMetrics().shuffleReadMetrics().totalBlocksFetched());
      }
    }
  }
}
