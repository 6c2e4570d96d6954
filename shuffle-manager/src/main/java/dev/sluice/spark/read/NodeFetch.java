package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.Locator.Whereabouts;
import dev.sluice.spark.locate.SilentNodes;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;

/**
 * Fetches blocks by Spark's own transfer where nodes have block servers: from the node that serves
 * what the executor wrote; what that does not give from the executor, if the driver does not say
 * that it is gone; else from the copy that its node has of it. Spark's own retries end at once
 * where the executor is dead, so there are ours, for a server that is started again; and they go on
 * for minutes where a server hangs, so each attempt at a node ends when nothing has come for a
 * while, and the executor's other tasks leave that node alone then, unless nobody else has their
 * blocks and the driver has its answer.
 *
 * <p>Spark's transport threads, the timer's and the executor's call it, one step after the other;
 * every block gets one answer, and none is waited for.
 */
final class NodeFetch {
  /** Over 7 s in all: a block server needs a second or two to start again. */
  private static final int MAX_ATTEMPTS = 10;

  private static final long FIRST_PAUSE_MS = 200;
  private static final long LONGEST_PAUSE_MS = 1_000;

  /** For which a READ fails where the executor has ended, which the table may not say yet. */
  private static final Set<FallbackReason> SUSPICIOUS =
      EnumSet.of(
          FallbackReason.CONNECT,
          FallbackReason.TRANSPORT,
          FallbackReason.DEADLINE,
          FallbackReason.CIRCUIT_OPEN,
          FallbackReason.STAGING);

  /**
   * What all fetches of an executor share.
   *
   * @param executor runs what blocks
   * @param timeoutMs an attempt at a node that has brought nothing for so long is over
   * @param sparksService whether Spark's external shuffle service answers for executors, also for
   *     those that are gone
   */
  record Shared(
      BlockStoreClient client,
      Locator locator,
      SilentNodes silent,
      Executor executor,
      DeadlineTimer timer,
      long timeoutMs,
      boolean sparksService) {}

  private final Shared shared;
  private final BlockManagerId target;
  private final BlockFetchingListener listener;
  private final DownloadFileManager files;
  private int nodeAttempts;
  private boolean executorAsked;
  private boolean nodeReported;

  /** The node that was asked last, whether it gave anything, and whether it said no. */
  private PeerAddress askedNode;

  private volatile boolean hasAnswered;
  private volatile boolean hasRefused;

  /**
   * @param target the executor that wrote the blocks
   * @param listener gets each block's answer
   * @param files null where the blocks go to memory
   */
  NodeFetch(
      Shared shared,
      BlockManagerId target,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    this.shared = shared;
    this.target = target;
    this.listener = listener;
    this.files = files;
  }

  /**
   * May block while it connects.
   *
   * @param reason why the blocks were not READ
   */
  void start(String[] blockIds, FallbackReason reason) {
    Optional<PeerAddress> node = shared.locator().node(target.executorId());
    if (node.isPresent() && shared.silent().admits(node.get())) {
      fromNode(node.get(), blockIds);
    } else if (node.isEmpty()
        && !SUSPICIOUS.contains(reason)
        && shared.locator().servesItself(target.executorId())) {
      fromExecutor(blockIds);
    } else {
      String whose = node.map(PeerAddress::toString).orElse("Executor " + target.executorId());
      findOut(all(blockIds, new IOException(whose + " has not answered of late")));
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
              } catch (RejectedExecutionException e) {
                fail(failed);
              }
            });
  }

  /** Blocks, also while the server may be starting. */
  private void next(Whereabouts where, Map<String, Throwable> failed) {
    String[] blockIds = failed.keySet().stream().sorted().toArray(String[]::new);
    boolean answers = shared.sparksService() || !where.gone();
    try {
      if (answers && !executorAsked) {
        leaveNodeAlone();
        fromExecutor(blockIds);
      } else if (isAskedAgain(where)) {
        Thread.sleep(Math.min(nodeAttempts * FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
        fromNode(where.node().get(), blockIds);
      } else if (where.gone() && where.node().isPresent() && !nodeReported) {
        leaveNodeAlone();
        report(where.node().get(), failed);
      } else {
        leaveNodeAlone();
        fail(failed);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(failed);
    }
  }

  /**
   * Nobody else has these blocks, and each executor whose blocks fail one after the other costs a
   * stage's attempt: so the driver looks itself, and gives up what all of them wrote. A node that
   * answers the driver is asked once more, unless it has said no.
   */
  private void report(PeerAddress node, Map<String, Throwable> failed) {
    nodeReported = true;
    nodeAttempts = MAX_ATTEMPTS - 1;
    shared.locator().report(node).thenRun(() -> findOut(failed));
  }

  /**
   * But not while what an executor that is gone wrote is sought at a server that may be starting.
   */
  private void leaveNodeAlone() {
    if (askedNode != null && !hasAnswered) {
      shared.silent().add(askedNode);
    }
  }

  private boolean isAskedAgain(Whereabouts where) {
    int limit = where.gone() ? MAX_ATTEMPTS : 1;
    return !hasRefused
        && nodeAttempts < limit
        && where.node().filter(node -> nodeReported || shared.silent().admits(node)).isPresent();
  }

  private void fail(Map<String, Throwable> failed) {
    failed.forEach(listener::onBlockFetchFailure);
  }

  private void fromNode(PeerAddress node, String[] blockIds) {
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

  /** One call of Spark's client: answers what it brings, and has the rest sought elsewhere. */
  private final class Attempt implements BlockFetchingListener {
    /** Empty where the executor is asked: for how long is Spark's business. */
    private final Optional<PeerAddress> node;

    private final Set<String> outstanding = ConcurrentHashMap.newKeySet();
    private final Map<String, Throwable> failed = new ConcurrentHashMap<>();
    private final AtomicInteger unanswered;
    private volatile long progressNanos = shared.timer().nanoTime();
    private volatile Future<?> timeout;

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
        shared.silent().add(node.get());
        failOutstanding(
            new IOException(node.get() + " has given nothing for " + shared.timeoutMs() + " ms"));
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
        // What a server says comes without a cause, also to a bootstrap of Spark 4.0. One that is
        // not answered has one.
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
        shared.silent().remove(node.get());
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
