// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands each map output over before its task ends. A map output that the node daemon refuses stays
 * with this executor, which serves it and tells the driver: a refusal fails no task. After a
 * refusal it asks the daemon, because the reason may be one directory or one map output. If the
 * daemon answers that it takes none, nothing is handed over until it answers otherwise. Each new
 * task asks it again, on a virtual thread. Each map output is counted once: here if the daemon is
 * not asked, else in {@link NodeOutputs#handOver}.
 *
 * <p>{@link ReadingRuntime} makes it for {@code spark.shuffle.rdma.node=on}. Map tasks' threads
 * call it and wait. There is nothing to close.
 */
final class AwaitedHandOver {
  private static final Logger LOG = LoggerFactory.getLogger(AwaitedHandOver.class);

  /**
   * An executor's map outputs at the node daemon. {@link NodeHandOver} implements and closes it.
   * Any thread; calls other than {@link #isKnown} may wait.
   */
  interface NodeOutputs {
    /** Returns true once the daemon knows this executor. */
    boolean isKnown();

    /**
     * Returns when the daemon knows the executor and, as far as it can tell, takes map outputs, and
     * the driver knows the node.
     *
     * @throws IOException if that is not possible; the message is the reason
     */
    void ask() throws IOException;

    /**
     * Returns when the node has the map output, and readers can find it there.
     *
     * @throws IOException if that is not possible; the message is the reason
     */
    void handOver(int shuffleId, long mapId) throws IOException;
  }

  private final NodeOutputs node;
  private final KeptOutputs kept;
  private final ShuffleCounters counters;
  private final Executor threads;
  private final AtomicBoolean asking = new AtomicBoolean();

  /**
   * Reason why the node takes no map output now; empty if it takes them, as far as is known. Tasks
   * and the virtual thread write it without a lock: the last one counts.
   */
  private volatile Optional<String> refusal = Optional.empty();

  /**
   * @param threads runs each question to the daemon on a thread of its own
   */
  AwaitedHandOver(NodeOutputs node, KeptOutputs kept, ShuffleCounters counters, Executor threads) {
    this.node = node;
    this.kept = kept;
    this.counters = counters;
    this.threads = threads;
  }

  /** Called when a map task begins. Never waits. */
  void expect() {
    if (refusal.isPresent() || !node.isKnown()) {
      askSoon();
    }
  }

  private void askSoon() {
    if (asking.compareAndSet(false, true)) {
      try {
        threads.execute(this::ask);
      } catch (RuntimeException | Error e) {
        asking.set(false);
        LOG.warn("No thread could be started to ask the node daemon; a later task asks it", e);
      }
    }
  }

  private void ask() {
    try {
      node.ask();
      refusal = Optional.empty();
    } catch (IOException | RuntimeException | Error e) { // Every failure must end this attempt.
      refusal = Optional.of(reason(e));
    } finally {
      asking.set(false);
    }
  }

  private static String reason(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /**
   * Called when a map task has committed. Returns when the node has the map output, or the driver
   * knows that it stays with this executor.
   *
   * @return true if the executor serves the map output, false if its node does so instead
   * @throws IOException if the driver does not answer, or the task is killed meanwhile
   */
  boolean committed(int shuffleId, long mapId) throws IOException {
    Optional<String> reason = refusal;
    if (reason.isPresent()) {
      counters.add(ShuffleCounter.NODE_REFUSED, 1);
    } else {
      reason = handOver(shuffleId, mapId);
    }
    if (reason.isPresent()) {
      kept.keep(shuffleId, mapId, reason.get());
    }
    return reason.isPresent();
  }

  /** Returns empty if the node took it, else the reason, which may concern this map output only. */
  private Optional<String> handOver(int shuffleId, long mapId) throws IOException {
    try {
      node.handOver(shuffleId, mapId);
      return Optional.empty();
    } catch (IOException e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e;
      }
      Optional<String> reason = Optional.of(reason(e));
      if (!node.isKnown()) { // It has taken none yet, and asking it again takes as long.
        refusal = reason;
      }
      askSoon();
      return reason;
    }
  }
}
