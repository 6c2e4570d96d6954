// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.RateLimitedLog;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits readers to MapReduce jobs, and opens a job when its first reader asks. Readers that come
 * at the same time share one thread for each job, and one answer. A disk that hangs therefore keeps
 * one thread from other jobs, however many reduce tasks ask. The {@link JobPort} creates and closes
 * it. Any thread; never blocks.
 */
final class JobOpener implements AutoCloseable {
  /** Longer than one step on a disk (5 s), shorter than the readers' default timeout (30 s). */
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final Logger LOG = LoggerFactory.getLogger(JobOpener.class);

  /**
   * Limit of jobs that are opened at the same time. A job that is served already takes its thread
   * for a moment.
   */
  private static final int MAX_THREADS = 64;

  /** Limit of jobs and reasons whose warnings are remembered. */
  private static final int MAX_REFUSALS = 1_000;

  private static final String LATE = "the node does not open the job in time; a disk may hang";

  private final Applications applications;
  private final Duration timeout;

  /** By job and reason: all reduce tasks of a job come again and again. */
  private final RateLimitedLog refusals = new RateLimitedLog(Duration.ofMinutes(1), MAX_REFUSALS);

  private final ThreadPoolExecutor threads = DaemonThreads.atMost(MAX_THREADS, "sluice-node-job");

  /** Answers by the names of jobs, each until its thread has ended. */
  private final Map<String, CompletableFuture<JobApplication>> underWay = new ConcurrentHashMap<>();

  /**
   * @param applications serve the jobs
   * @param timeout time after which waiting readers are refused; later readers are refused at once
   *     until the job's thread ends
   */
  JobOpener(Applications applications, Duration timeout) {
    this.applications = applications;
    this.timeout = timeout;
  }

  /**
   * Lets a reader in.
   *
   * @return completes exceptionally if the reader is refused, with an {@link IOException} that has
   *     the reason
   * @throws RejectedExecutionException after the end
   */
  CompletableFuture<JobApplication> enter(ApplicationState job) {
    return underWay.computeIfAbsent(job.name(), _ -> start(job));
  }

  private CompletableFuture<JobApplication> start(ApplicationState job) {
    CompletableFuture<JobApplication> answer = new CompletableFuture<>();
    threads.execute(() -> open(job, answer));
    return answer
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(e -> CompletableFuture.failedFuture(refusal(job, e)));
  }

  private IOException refusal(ApplicationState job, Throwable e) {
    boolean isLate = e instanceof TimeoutException;
    String reason = isLate ? LATE : String.valueOf(e.getMessage());
    long times = refusals.add(List.of(job.name(), reason), System.nanoTime());
    if (times > 0 && isLate) {
      LOG.warn(
          "Opening {} takes longer than {} ms. Until it ends, its readers are refused, and get map"
              + " outputs from Hadoop's own shuffle. A disk may hang. This happened {} times since"
              + " it was last logged",
          job.name(),
          timeout.toMillis(),
          times);
    } else if (times > 0) {
      LOG.warn(
          "Readers of {} are refused, and get its map outputs from Hadoop's own shuffle: {}. This"
              + " happened {} times since it was last logged",
          job.name(),
          e.toString(),
          times);
    }
    LOG.debug("Readers of {} are refused", job.name(), e);
    return new IOException(reason, e);
  }

  private void open(ApplicationState job, CompletableFuture<JobApplication> answer) {
    try {
      answer.complete(applications.enter(job));
    } catch (IOException | RuntimeException e) {
      answer.completeExceptionally(e);
    } catch (Error e) { // ends the process
      answer.completeExceptionally(e);
      throw e;
    } finally {
      underWay.remove(job.name());
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
