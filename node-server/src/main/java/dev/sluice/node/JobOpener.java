// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets readers into MapReduce jobs, which are opened for their first ones. Readers that come at the
 * same time share one thread for each job, and one answer. A disk that hangs therefore keeps one
 * thread from other jobs, however many reduce tasks ask. The {@link JobPort} creates and closes it.
 * Any thread; never blocks.
 */
final class JobOpener implements AutoCloseable {
  /** Longer than a disk may take in each step, shorter than readers wait by default. */
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static final Logger LOG = LoggerFactory.getLogger(JobOpener.class);

  /** Jobs that are opened at a time. Jobs that are served already take a moment. */
  private static final int MAX_THREADS = 64;

  private final Applications applications;
  private final Duration timeout;
  private final ThreadPoolExecutor threads = DaemonThreads.atMost(MAX_THREADS, "sluice-node-job");

  /** Answers by the names of jobs, each until its thread has ended. */
  private final Map<String, CompletableFuture<Object>> underWay = new ConcurrentHashMap<>();

  /**
   * @param applications serve the jobs
   * @param timeout time after which readers are refused, and others while the job's thread waits
   */
  JobOpener(Applications applications, Duration timeout) {
    this.applications = applications;
    this.timeout = timeout;
  }

  /**
   * Lets a reader in.
   *
   * @return completes with {@link Registered} or {@link Refused}, never exceptionally
   * @throws RejectedExecutionException after the end
   */
  CompletableFuture<Object> enter(ApplicationState job) {
    return underWay.computeIfAbsent(job.name(), _ -> start(job));
  }

  private CompletableFuture<Object> start(ApplicationState job) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    threads.execute(() -> answer.complete(open(job)));
    return answer.completeOnTimeout(
        new Refused("the disks of this node do not answer"),
        timeout.toMillis(),
        TimeUnit.MILLISECONDS);
  }

  private Object open(ApplicationState job) {
    try {
      return applications.enter(job).entered();
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "Readers of {} are refused, and get its map outputs from Hadoop's own shuffle: {}",
          job.name(),
          e.toString());
      LOG.debug("Readers of {} are refused", job.name(), e);
      return new Refused(String.valueOf(e.getMessage()));
    } finally {
      underWay.remove(job.name());
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
