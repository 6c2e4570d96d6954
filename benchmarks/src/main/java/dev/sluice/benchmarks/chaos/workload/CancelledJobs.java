package dev.sluice.benchmarks.chaos.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** Four jobs at once, of which two are cancelled in the middle: their tasks are interrupted. */
final class CancelledJobs implements Workload {
  private static final int KEPT = 2;
  private static final int CANCELLED = 2;
  private static final long CANCEL_STEP_MS = 400;

  @Override
  public String name() {
    return "cancelled-jobs";
  }

  @Override
  public int shuffles() {
    return KEPT + CANCELLED;
  }

  @Override
  public Answer run(SparkSession spark, long seed) throws Exception {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    try (ExecutorService threads = Executors.newFixedThreadPool(KEPT + CANCELLED)) {
      List<CompletableFuture<Answer>> kept = new ArrayList<>();
      for (int i = 0; i < KEPT; i++) {
        kept.add(submit(threads, context, "kept", seed + i));
      }
      List<CompletableFuture<Answer>> cancelled = new ArrayList<>();
      for (int i = 0; i < CANCELLED; i++) {
        cancelled.add(submit(threads, context, "cancelled-" + i, seed + i));
      }
      for (int i = 0; i < CANCELLED; i++) {
        Thread.sleep(CANCEL_STEP_MS);
        context.cancelJobGroup("cancelled-" + i);
      }
      awaitEnd(cancelled);
      Answer sum = Answer.NOTHING;
      for (CompletableFuture<Answer> job : kept) {
        sum = sum.plus(job.get());
      }
      return sum;
    }
  }

  private static CompletableFuture<Answer> submit(
      ExecutorService threads, JavaSparkContext context, String group, long seed) {
    return CompletableFuture.supplyAsync(
        () -> {
          context.setJobGroup(group, group, true);
          return GroupBy.of(Records.of(context, seed), Records.PARTITIONS);
        },
        threads);
  }

  /** One that was quicker than its cancellation, or did not even begin, is as good. */
  private static void awaitEnd(List<CompletableFuture<Answer>> jobs) throws InterruptedException {
    for (CompletableFuture<Answer> job : jobs) {
      try {
        job.get();
      } catch (ExecutionException e) {
        // Cancelled, as it was meant to be.
      }
    }
  }
}
