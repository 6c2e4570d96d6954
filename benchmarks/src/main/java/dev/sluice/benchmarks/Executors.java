package dev.sluice.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaSparkContext;

/** The executors of a local cluster. */
public final class Executors {
  private static final long UP_MS = 60_000;
  private static final long POLL_MS = 20;

  private Executors() {}

  /** Waits for all: those that are still starting would leave the work to the first one. */
  public static void await(JavaSparkContext spark) throws InterruptedException, TimeoutException {
    int wanted = count(spark.master());
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

  /** Of {@code local-cluster[executors,cores,memory]}. */
  private static int count(String master) {
    return Integer.parseInt(master.substring(master.indexOf('[') + 1, master.indexOf(',')));
  }
}
