// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import dev.sluice.testkit.Sums;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Runs four jobs at once, each on a thread, and cancels two of them midway, which interrupts their
 * tasks. Only the answers of the others count. It returns when all four are over.
 */
final class CancelledJobs {
  private static final int KEPT = 2;
  private static final int CANCELLED = 2;

  /** Time to the first cancellation and from one to the next. */
  private static final long CANCEL_STEP_MS = 400;

  static final int SHUFFLES = KEPT + CANCELLED;

  private CancelledJobs() {}

  static Sums run(JavaSparkContext context, long seed) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(SHUFFLES)) {
      List<CompletableFuture<Sums>> kept = new ArrayList<>();
      for (int i = 0; i < KEPT; i++) {
        kept.add(submit(threads, context, "kept", seed + i));
      }
      List<CompletableFuture<Sums>> cancelled = new ArrayList<>();
      for (int i = 0; i < CANCELLED; i++) {
        cancelled.add(submit(threads, context, "cancelled-" + i, seed + i));
      }
      for (int i = 0; i < CANCELLED; i++) {
        Thread.sleep(CANCEL_STEP_MS);
        context.cancelJobGroup("cancelled-" + i);
      }
      awaitEnd(cancelled);
      Sums sum = new Sums(0, 0);
      for (CompletableFuture<Sums> job : kept) {
        sum = sum.plus(job.get());
      }
      return sum;
    }
  }

  private static CompletableFuture<Sums> submit(
      ExecutorService threads, JavaSparkContext context, String group, long seed) {
    return CompletableFuture.supplyAsync(
        () -> {
          context.setJobGroup(group, group, true);
          return RddJobs.groupBy(context, seed);
        },
        threads);
  }

  /** Waits for the end of all; a job may end before its cancellation, or not begin at all. */
  private static void awaitEnd(List<CompletableFuture<Sums>> jobs) throws InterruptedException {
    for (CompletableFuture<Sums> job : jobs) {
      try {
        job.get();
      } catch (ExecutionException e) {
        // The job was cancelled, as intended.
      }
    }
  }
}
