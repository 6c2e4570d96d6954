// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks for MapReduce jobs on a node's disks, for readers that have not authenticated yet. Any
 * client may send any name, so the work for names is limited. Readers that ask for the same job
 * share one look. A name that was not found is refused for a short time without another look. A
 * limited number of looks wait for a thread. The {@link JobPort} creates and closes it. Any thread;
 * never blocks.
 */
final class JobLookup implements AutoCloseable {
  /** Each waits for disks a short time, with a thread for each of them ({@link NodeDisks}). */
  private static final int MAX_THREADS = 16;

  /** Limit of looks at a time, most of which wait for a thread. */
  static final int MAX_LOOKS = 1_000;

  /**
   * Time for which a name is refused that was not found. Shorter than readers pause; YARN tells a
   * node of a job before its first task.
   */
  static final Duration REFUSED = Duration.ofSeconds(2);

  /** Limit of names that are refused; the oldest ones are looked for again. */
  private static final int MAX_REFUSED = 1_000;

  /** Finds a job's state, with its secret. */
  @FunctionalInterface
  interface Finder {
    /**
     * Waits for disks.
     *
     * @throws IOException if the node does not serve such a job, with the reason
     */
    ApplicationState find(String name) throws IOException;
  }

  private record Refusal(Exception reason, long nanos) {}

  private final Finder finder;
  private final LongSupplier nanoClock;
  private final ThreadPoolExecutor threads =
      DaemonThreads.atMost(MAX_THREADS, "sluice-node-secret");

  /** Looks by the names of jobs. */
  private final Map<String, CompletableFuture<ApplicationState>> underWay =
      new ConcurrentHashMap<>();

  /** Names that were not found, the oldest first; guarded by itself. */
  private final SequencedMap<String, Refusal> refused = new LinkedHashMap<>();

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  JobLookup(Finder finder, LongSupplier nanoClock) {
    this.finder = finder;
    this.nanoClock = nanoClock;
  }

  /**
   * Looks for a job.
   *
   * @return completes exceptionally if the node does not serve it, or too many looks wait
   * @throws RejectedExecutionException after the end
   */
  CompletableFuture<ApplicationState> find(String name) {
    if (!JobFile.isName(name)) {
      return CompletableFuture.failedFuture(
          new IOException("the name is not that of a MapReduce job"));
    }
    Exception known = refusal(name);
    if (known != null) {
      return CompletableFuture.failedFuture(known);
    }
    if (underWay.size() >= MAX_LOOKS) {
      return CompletableFuture.failedFuture(
          new IOException("the node is looking for too many jobs"));
    }
    return underWay.computeIfAbsent(name, this::start);
  }

  private @Nullable Exception refusal(String name) {
    synchronized (refused) {
      Refusal known = refused.get(name);
      if (known == null) {
        return null;
      }
      if (nanoClock.getAsLong() - known.nanos() >= REFUSED.toNanos()) {
        refused.remove(name);
        return null;
      }
      return known.reason();
    }
  }

  private CompletableFuture<ApplicationState> start(String name) {
    CompletableFuture<ApplicationState> answer = new CompletableFuture<>();
    threads.execute(() -> look(name, answer));
    return answer;
  }

  private void look(String name, CompletableFuture<ApplicationState> answer) {
    try {
      ApplicationState found = finder.find(name);
      underWay.remove(name);
      answer.complete(found);
    } catch (IOException | RuntimeException e) {
      synchronized (refused) {
        refused.put(name, new Refusal(e, nanoClock.getAsLong()));
        if (refused.size() > MAX_REFUSED) {
          refused.pollFirstEntry();
        }
      }
      failed(name, answer, e);
    } catch (Error e) { // ends the process
      failed(name, answer, e);
      throw e;
    }
  }

  private void failed(String name, CompletableFuture<ApplicationState> answer, Throwable reason) {
    underWay.remove(name);
    answer.completeExceptionally(reason);
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
