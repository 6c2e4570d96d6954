package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands map outputs over that their executor serves all the same: after the commit, on a thread of
 * its own, so that no task waits for the node's block server or fails for it. What that does not
 * take is the executor's alone, as it would be without one, and for a while nothing more is tried.
 * The executor's runtime closes it.
 */
final class BackgroundHandOver implements HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundHandOver.class);
  private static final int MAX_QUEUED = 100_000;
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private record Output(int shuffleId, long mapId) {}

  private final HandOver node;
  private final MapOutputFiles files;
  private final ShuffleCounters counters;
  private final Runnable counted;
  private final BlockingQueue<Output> queue = new LinkedBlockingQueue<>(MAX_QUEUED);
  private final Thread thread = DaemonThreads.named("sluice-hand-over").newThread(this::run);

  /** Whether the node takes nothing, and since when. Of the thread alone. */
  private boolean pausing;

  private long refusedNanos;

  /**
   * @param node takes map outputs, or throws
   * @param counted is told after each, since the reports of their tasks may be sent by then
   */
  BackgroundHandOver(
      HandOver node, MapOutputFiles files, ShuffleCounters counters, Runnable counted) {
    this.node = node;
    this.files = files;
    this.counters = counters;
    this.counted = counted;
    thread.start();
  }

  @Override
  public void expect() {}

  @Override
  public void committed(int shuffleId, long mapId) {
    if (!queue.offer(new Output(shuffleId, mapId))) {
      counters.handedOver(false);
    }
  }

  private void run() {
    try {
      while (!Thread.interrupted()) {
        Output next = queue.take();
        if (pausing && System.nanoTime() - refusedNanos < PAUSE_NANOS) {
          counters.handedOver(false);
        } else {
          handOver(next);
        }
        counted.run();
      }
    } catch (InterruptedException e) {
      LOG.debug("Nothing is handed over any more");
    }
  }

  private void handOver(Output output) {
    try {
      if (isThere(output)) {
        node.committed(output.shuffleId(), output.mapId());
        taken();
      }
    } catch (IOException e) {
      boolean isMissing =
          e instanceof NoSuchFileException || e.getCause() instanceof NoSuchFileException;
      boolean isOver = isMissing && !isThere(output);
      if (!isOver && !Thread.currentThread().isInterrupted()) {
        refused(e);
      }
    }
  }

  /** A shuffle may be over by now, and its files gone. */
  private boolean isThere(Output output) {
    try {
      return files.find(output.shuffleId(), output.mapId()) != null;
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} is not found", output, e);
      return false;
    }
  }

  private void taken() {
    if (pausing) {
      LOG.info("The node's block server takes map outputs again");
    }
    pausing = false;
  }

  private void refused(IOException reason) {
    if (!pausing) {
      LOG.warn(
          "Map outputs end with this executor, as its node's block server does not take them (said"
              + " once until it does): {}",
          reason.getMessage());
    }
    pausing = true;
    refusedNanos = System.nanoTime();
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
