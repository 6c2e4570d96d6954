package dev.sluice.spark.deployment;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.scenarios.KnownShuffle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * The application that the deployment tests submit. It shuffles and prints for each round whether
 * the answer was right and {@code counter=value} for all counters; see {@link Round} for what the
 * tests make of that.
 *
 * <p>The argument "leave" adds a second round over the same map outputs once all executors have
 * left.
 */
public final class ShuffleApplication {
  static final String ROUND = "ROUND";
  private static final int PARTITIONS = 8;
  private static final Duration LEAVE_TIMEOUT = Duration.ofMinutes(2);

  private ShuffleApplication() {}

  public static void main(String[] args) throws InterruptedException {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      RemoteBlocks remote = new RemoteBlocks();
      context.sc().addSparkListener(remote);
      JavaPairRDD<Integer, byte[]> shuffled = KnownShuffle.SMALL.repartitioned(context, PARTITIONS);
      round(shuffled, remote);
      if (args.length > 0 && args[0].equals("leave")) {
        await(() -> context.sc().statusTracker().getExecutorInfos().length == 1); // the driver
        round(shuffled, remote);
      }
    }
  }

  private static void round(JavaPairRDD<Integer, byte[]> shuffled, RemoteBlocks remote) {
    boolean right = KnownShuffle.answerOf(shuffled).equals(KnownShuffle.SMALL.answer());
    Totals totals =
        ManagerTotals.settled(
            SparkEnv.get().shuffleManager(), t -> t.read() + t.fallback() >= remote.count.get());
    StringBuilder line = new StringBuilder(ROUND).append(" right=").append(right ? 1 : 0);
    totals.counters().forEach((name, value) -> line.append(' ').append(name + "=" + value));
    System.out.println(line);
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + LEAVE_TIMEOUT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("Executors have not left in " + LEAVE_TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /** Counts as Spark's task metrics do. */
  private static final class RemoteBlocks extends SparkListener {
    private final AtomicLong count = new AtomicLong();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskMetrics() != null) {
        count.addAndGet(end.taskMetrics().shuffleReadMetrics().remoteBlocksFetched());
      }
    }
  }
}
