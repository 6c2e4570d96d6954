// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.HandOver.NodeOutputs;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands map outputs over after their commit, on a thread of its own. The executor serves them as
 * well, so no task waits for the node daemon or fails because of it. A map output that the daemon
 * refuses exists only at the executor, as without a daemon, and for 30 s no other is handed over.
 *
 * <p>{@link ReadingRuntime} makes it for {@code spark.shuffle.rdma.node=auto} and closes it, which
 * does not wait for its thread. Map tasks' threads, and the transport's for migrated map outputs,
 * only add to its queue. Its own thread {@code sluice-hand-over} does the rest.
 */
final class BackgroundHandOver implements HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundHandOver.class);

  /** Bounds memory to some megabytes. A map output beyond it counts as not handed over. */
  private static final int MAX_QUEUED = 100_000;

  /** Pause after a refusal, whose map outputs are not handed over; the next one then asks again. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private record Output(int shuffleId, long mapId) {}

  private final NodeOutputs node;
  private final MapOutputFiles files;
  private final ShuffleCounters counters;
  private final Runnable counted;
  private final BlockingQueue<Output> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
  private final CircuitBreaker refusals = CircuitBreaker.pausing(PAUSE_NANOS);
  private final Thread thread = DaemonThreads.named("sluice-hand-over").newThread(this::run);

  /**
   * @param node takes map outputs, or throws
   * @param counted runs after each map output, because the report of its task may be sent already
   */
  BackgroundHandOver(
      NodeOutputs node, MapOutputFiles files, ShuffleCounters counters, Runnable counted) {
    this.node = node;
    this.files = files;
    this.counters = counters;
    this.counted = counted;
    thread.start();
  }

  @Override
  public void expect() {}

  @Override
  public boolean committed(int shuffleId, long mapId) {
    if (!queue.offer(new Output(shuffleId, mapId))) {
      counters.add(ShuffleCounter.NODE_REFUSED, 1);
    }
    return true;
  }

  private void run() {
    try {
      while (!Thread.interrupted()) {
        handle(queue.take());
      }
    } catch (InterruptedException e) {
      LOG.debug("Handing over map outputs ends: the executor is stopping");
    }
  }

  private void handle(Output output) {
    try {
      if (refusals.isOpen(System.nanoTime())) {
        counters.add(ShuffleCounter.NODE_REFUSED, 1);
      } else {
        handOver(output);
      }
      counted.run();
    } catch (RuntimeException | Error e) { // The thread goes on with the next one.
      LOG.error("Handing over map output {} failed; going on with the next one", output, e);
    }
  }

  private void handOver(Output output) {
    try {
      if (isThere(output)) {
        node.handOver(output.shuffleId(), output.mapId());
        taken();
      }
    } catch (IOException | RuntimeException | Error e) {
      boolean isMissing =
          e instanceof NoSuchFileException || e.getCause() instanceof NoSuchFileException;
      boolean isOver = isMissing && !isThere(output);
      if (!isOver && !Thread.currentThread().isInterrupted()) {
        refused(e);
      }
    }
  }

  /** Returns false if the files are gone, because the shuffle may be over by now. */
  private boolean isThere(Output output) {
    try {
      return files.find(output.shuffleId(), output.mapId()) != null;
    } catch (IOException | RuntimeException e) {
      LOG.debug("Files of map output {} were not found", output, e);
      return false;
    }
  }

  private void taken() {
    if (!refusals.isClosed()) {
      LOG.info("The node daemon takes map outputs again");
    }
    refusals.succeeded();
  }

  private void refused(Throwable reason) {
    if (refusals.isClosed()) {
      LOG.warn(
          "The node daemon does not take map outputs, so they end with this executor (logged once"
              + " until it takes them again; spark.shuffle.rdma.node): {}",
          reason instanceof IOException ? reason.getMessage() : reason.toString());
      LOG.debug("A map output was not handed over to the node daemon", reason);
    }
    refusals.failed(System.nanoTime());
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
