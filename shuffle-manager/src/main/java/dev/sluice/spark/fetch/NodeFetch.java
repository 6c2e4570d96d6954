// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.Locator.Whereabouts;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.jspecify.annotations.Nullable;

/**
 * Fetches blocks by Spark's own transport in a cluster with node daemons. It asks the node daemon
 * that serves the executor's map outputs. Blocks that the daemon does not give come from the
 * executor, unless the driver reports it gone; then the daemon of its node is asked for its copy
 * again.
 *
 * <p>A daemon that is away, for example while it restarts, is waited for within {@code
 * spark.shuffle.rdma.node.awayTimeout} if no other process has the blocks. Spark's own retries do
 * not help. They end at once if the executor is dead, and go on for minutes if a server hangs. An
 * attempt at a daemon therefore ends after some time without progress. The executor's other tasks
 * then skip that daemon, unless no other process has their blocks and the daemon has answered the
 * driver.
 *
 * <p>{@link SparkTransfer} makes and starts it, on a task's thread or a virtual one. Later steps
 * run on virtual threads {@code sluice-blocking-N}, and answers come on Spark's transport threads
 * and the thread {@code sluice-timer}. One step follows the other: plain fields are safe only
 * because an executor hands over each step. Every block gets one answer. No caller waits for it.
 */
final class NodeFetch {
  /** Attempts over 7 s in all: a daemon needs a second or two to restart. */
  private static final int MAX_ATTEMPTS = 10;

  /** First pause between attempts; each one is this much longer, up to the next limit. */
  private static final long FIRST_PAUSE_MS = 200;

  private static final long LONGEST_PAUSE_MS = 1_000;

  /** Number of pauses before the driver is asked again, while a daemon is away. */
  private static final int AWAY_PAUSES = 10;

  /** Extra time: the driver notices an absence later than an executor, and so gives up later. */
  private static final long DRIVER_LATER_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Reasons for which READs fail when the executor has ended but the table does not say so yet. */
  private static final Set<FallbackReason> SUSPICIOUS =
      EnumSet.of(
          FallbackReason.CONNECT,
          FallbackReason.TRANSPORT,
          FallbackReason.DEADLINE,
          FallbackReason.LATE,
          FallbackReason.CIRCUIT_OPEN,
          FallbackReason.STAGING);

  /**
   * State that all fetches of an executor share.
   *
   * @param executor runs steps that block, each on a virtual thread
   * @param timeoutMs an attempt at a daemon ends after this time without progress
   */
  record Shared(
      BlockStoreClient client,
      Locator locator,
      UnresponsiveNodes unresponsive,
      AwayNodes away,
      Executor executor,
      DeadlineTimer timer,
      long timeoutMs) {}

  private final Shared shared;
  private final BlockManagerId target;
  private final BlockFetchingListener listener;
  private final @Nullable DownloadFileManager files;

  /** Attempts at daemons so far. */
  private int nodeAttempts;

  private boolean executorAsked;
  private boolean nodeReported;

  /** True if the daemon was away and has to be asked when it is back. */
  private boolean wasAway;

  /** Time of the daemon's first absence. Later answers and absences do not change it. */
  private OptionalLong awaySinceNanos = OptionalLong.empty();

  /** The last daemon that was asked; null for none. */
  private @Nullable PeerAddress askedNode;

  /** True if that daemon answered. Transport threads write this and the next field. */
  private volatile boolean hasAnswered;

  /** True if that daemon refused a block. */
  private volatile boolean hasRefused;

  /**
   * @param target executor that wrote the blocks
   * @param listener gets each block's answer
   * @param files null if the blocks go to memory
   */
  NodeFetch(
      Shared shared,
      BlockManagerId target,
      BlockFetchingListener listener,
      @Nullable DownloadFileManager files) {
    this.shared = shared;
    this.target = target;
    this.listener = listener;
    this.files = files;
  }

  /**
   * Starts the fetch. May block while it connects.
   *
   * @param reason why the blocks were not READ
   */
  void start(String[] blockIds, FallbackReason reason) {
    Optional<PeerAddress> node = shared.locator().node(target.executorId());
    if (node.isPresent() && shared.unresponsive().admits(node.get())) {
      fromNode(node.get(), blockIds);
    } else if (node.isEmpty()
        && !SUSPICIOUS.contains(reason)
        && shared.locator().servesItself(target.executorId())) {
      fromExecutor(blockIds);
    } else {
      String whose = node.map(PeerAddress::toString).orElse("Executor " + target.executorId());
      findOut(all(blockIds, new IOException(whose + " has not answered recently")));
    }
  }

  private static Map<String, Throwable> all(String[] blockIds, Throwable failure) {
    return Arrays.stream(blockIds).collect(Collectors.toMap(Function.identity(), _ -> failure));
  }

  private void findOut(Map<String, Throwable> failed) {
    shared
        .locator()
        .find(target.executorId())
        .thenAccept(
            where -> {
              try {
                shared.executor().execute(() -> next(where, failed));
              } catch (RuntimeException | Error e) { // Also if there is no thread for it.
                giveUp(failed);
              }
            });
  }

  /** Chooses and runs the next step. Blocks, also while the daemon may be starting. */
  private void next(Whereabouts where, Map<String, Throwable> failed) {
    String[] blockIds = failed.keySet().stream().sorted().toArray(String[]::new);
    try {
      if (!where.gone() && !executorAsked) {
        leaveNodeAlone();
        fromExecutor(blockIds);
      } else if (isAwaited(where)) {
        await(where.node().get(), failed);
      } else if (wasAway && where.node().isPresent() && !hasRefused && !isOverdue()) {
        wasAway = false;
        nodeAttempts = 0;
        fromNode(where.node().get(), blockIds);
      } else if (isAskedAgain(where)) {
        Thread.sleep(Math.min(nodeAttempts * FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
        fromNode(where.node().get(), blockIds);
      } else if (where.gone() && where.node().isPresent() && !nodeReported) {
        leaveNodeAlone();
        report(where.node().get(), failed);
      } else {
        giveUp(failed);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      giveUp(failed);
    } catch (RuntimeException | Error e) { // Every block gets its answer.
      giveUp(failed);
    }
  }

  /** Fails the blocks, and ends this task's try of a daemon that others leave alone. */
  private void giveUp(Map<String, Throwable> failed) {
    leaveNodeAlone();
    fail(failed);
  }

  private boolean isAwaited(Whereabouts where) {
    return !hasRefused
        && !isOverdue()
        && where
            .node()
            .filter(shared.away()::isAway)
            .filter(node -> shared.away().isWaitedFor(node, DRIVER_LATER_NANOS))
            .isPresent();
  }

  /**
   * Returns true if the time for absences is over. A daemon that comes and goes has no more time
   * than a daemon that stays away.
   */
  private boolean isOverdue() {
    return awaySinceNanos.isPresent()
        && !shared
            .away()
            .isWithin(shared.away().nanoTime() - awaySinceNanos.getAsLong(), DRIVER_LATER_NANOS);
  }

  /**
   * Waits for the daemon for ten seconds, then asks the driver again: the blocks may have moved to
   * another daemon by then, or be lost.
   */
  private void await(PeerAddress node, Map<String, Throwable> failed) throws InterruptedException {
    wasAway = true;
    if (awaySinceNanos.isEmpty()) {
      awaySinceNanos = OptionalLong.of(shared.away().nanoTime());
    }
    for (int pause = 0;
        pause < AWAY_PAUSES && !isOverdue() && shared.away().isAway(node);
        pause++) {
      if (!shared.away().isWaitedFor(node)) {
        shared.locator().report(node).thenRun(() -> findOut(failed));
        return;
      }
      Thread.sleep(LONGEST_PAUSE_MS);
    }
    findOut(failed);
  }

  /**
   * Reports the daemon to the driver. No other process has these blocks, and each executor whose
   * blocks fail one by one costs an attempt of the stage. The driver therefore asks the daemon
   * itself and, without an answer, gives up the map outputs of all these executors. A daemon that
   * answers the driver is asked once more, unless it refused a block.
   */
  private void report(PeerAddress node, Map<String, Throwable> failed) {
    nodeReported = true;
    nodeAttempts = MAX_ATTEMPTS - 1; // Leaves one attempt.
    shared.locator().report(node).thenRun(() -> findOut(failed));
  }

  /**
   * Makes the executor's other tasks skip a daemon that did not answer. Not called before a retry:
   * only that daemon has the blocks then, and it may be starting.
   */
  private void leaveNodeAlone() {
    if (askedNode != null && !hasAnswered) {
      shared.unresponsive().add(askedNode);
    }
  }

  private boolean isAskedAgain(Whereabouts where) {
    int limit = where.gone() ? MAX_ATTEMPTS : 1;
    return !hasRefused
        && nodeAttempts < limit
        && (nodeReported || !isOverdue())
        && where
            .node()
            .filter(node -> nodeReported || shared.unresponsive().admits(node))
            .isPresent();
  }

  private void fail(Map<String, Throwable> failed) {
    failed.forEach(listener::onBlockFetchFailure);
  }

  private void fromNode(PeerAddress node, String[] blockIds) {
    if (!node.equals(askedNode)) {
      leaveNodeAlone(); // The blocks are at another daemon by now.
    }
    nodeAttempts++;
    askedNode = node;
    hasAnswered = false;
    hasRefused = false;
    new Attempt(Optional.of(node), blockIds).start(node.host(), node.port(), blockIds);
  }

  private void fromExecutor(String[] blockIds) {
    executorAsked = true;
    new Attempt(Optional.empty(), blockIds).start(target.host(), target.port(), blockIds);
  }

  /** One call of Spark's client. Answers the blocks that arrive, and seeks the others elsewhere. */
  private final class Attempt implements BlockFetchingListener {
    /** Daemon that is asked. Empty for the executor: Spark decides how long that may take. */
    private final Optional<PeerAddress> node;

    private final Set<String> outstanding = ConcurrentHashMap.newKeySet();
    private final Map<String, Throwable> failed = new ConcurrentHashMap<>();
    private final AtomicInteger unanswered;
    private volatile long progressNanos = shared.timer().nanoTime();
    private volatile @Nullable Future<?> timeout;

    Attempt(Optional<PeerAddress> node, String[] blockIds) {
      this.node = node;
      this.unanswered = new AtomicInteger(blockIds.length);
      outstanding.addAll(Arrays.asList(blockIds));
    }

    void start(String host, int port, String[] blockIds) {
      try {
        if (node.isPresent()) {
          scheduleTimeout(timeoutNanos());
        }
        shared.client().fetchBlocks(host, port, target.executorId(), blockIds, this, files);
      } catch (Throwable e) { // Every block gets its answer.
        failOutstanding(e);
      }
    }

    private long timeoutNanos() {
      return TimeUnit.MILLISECONDS.toNanos(shared.timeoutMs());
    }

    private void scheduleTimeout(long delayNanos) {
      timeout = shared.timer().schedule(this::timedOut, delayNanos);
      if (unanswered.get() == 0) {
        timeout.cancel(false);
      }
    }

    private void timedOut() {
      long leftNanos = progressNanos + timeoutNanos() - shared.timer().nanoTime();
      if (leftNanos > 0) {
        scheduleTimeout(leftNanos);
      } else if (!outstanding.isEmpty()) {
        shared.unresponsive().add(node.get());
        failOutstanding(
            new IOException(node.get() + " has sent nothing for " + shared.timeoutMs() + " ms"));
      }
    }

    private void failOutstanding(Throwable failure) {
      outstanding.forEach(blockId -> onBlockFetchFailure(blockId, failure));
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      if (outstanding.remove(blockId)) {
        nodeAnswers();
        try {
          listener.onBlockFetchSuccess(blockId, data);
        } finally {
          answered();
        }
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      if (outstanding.remove(blockId)) {
        // A server's refusal has no cause, also in a bootstrap of Spark 4.0. A request without an
        // answer fails with a cause.
        if (node.isPresent() && failure instanceof RuntimeException && failure.getCause() == null) {
          hasRefused = true;
          nodeAnswers();
        }
        failed.put(blockId, failure);
        answered();
      }
    }

    private void nodeAnswers() {
      progressNanos = shared.timer().nanoTime();
      if (node.isPresent()) {
        hasAnswered = true;
        shared.unresponsive().remove(node.get());
        shared.away().answered(node.get());
      }
    }

    private void answered() {
      if (unanswered.decrementAndGet() == 0) {
        Future<?> scheduled = timeout;
        if (scheduled != null) {
          scheduled.cancel(false);
        }
        if (!failed.isEmpty()) {
          findOut(failed);
        }
      }
    }
  }
}
