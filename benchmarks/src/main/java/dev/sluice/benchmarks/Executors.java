package dev.sluice.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaSparkContext;

/** The executors of an application. */
public final class Executors {
  private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[(\\d+),.*");
  private static final long UP_MS = 300_000;
  private static final long POLL_MS = 20;

  private Executors() {}

  /** Waits for all: those that are still starting would leave the work to the first one. */
  public static void await(JavaSparkContext spark) throws InterruptedException, TimeoutException {
    int wanted = count(spark);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(UP_MS);
    while (spark.sc().getExecutorIds().size() < wanted) {
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException(
            "%d of %d executors within %d ms"
                .formatted(spark.sc().getExecutorIds().size(), wanted, UP_MS));
      }
      Thread.sleep(POLL_MS);
    }
  }

  private static int count(JavaSparkContext spark) {
    Matcher localCluster = LOCAL_CLUSTER.matcher(spark.master());
    return localCluster.matches()
        ? Integer.parseInt(localCluster.group(1))
        : spark.getConf().getInt("spark.executor.instances", 1);
  }
}
