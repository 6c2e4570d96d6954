// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.driver.DriverRuntime.DecisionTimes;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.LocationDirectory;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the application's node daemons, from the driver, which of its shuffles are over, and every
 * ten seconds which are live. Daemons remove shuffles that they hear nothing of for a while. By
 * their answers it learns of restarted daemons, to which the directory then sends readers, and of
 * lost nodes. The directory remembers the nodes of lost executors until no map status names these
 * executors.
 *
 * <p>{@link DriverRuntime} makes and closes it. The listener bus's thread calls {@link
 * #unregisterKept}, the block manager's {@link #unregister}, the directory's {@link #check}, the
 * driver's timer {@link #renew}. Answers are handled on virtual threads, as {@link AwayNodes}
 * blocks. Each of these calls costs one message per node. Only {@link #close} waits for answers.
 */
final class NodeLifetimes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLifetimes.class);

  /** Interval of renewals, and how late a restarted or lost daemon may be noticed. */
  private static final long RENEW_EVERY_MS = 10_000;

  /** Longer than the client remembers a failed connection: the next question connects again. */
  private static final long ASK_AGAIN_MS = 1_100;

  /** Longest wait at the end: a daemon that hears nothing removes the application later itself. */
  private static final long END_TIMEOUT_MS = 5_000;

  /** A silent node is lost after this time if it takes connections or its machine is gone. */
  private static final long LOST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Interval at which at least {@link #MIN_GONE} lost executors are sought in all map statuses. */
  private static final long FORGET_EVERY_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Fewer entries are not worth a look at each map status: some 200 bytes each. */
  private static final int MIN_GONE = 100;

  /** Map outputs as Spark knows them, implemented by {@link TrackedOutputs}. Any thread. */
  interface MapOutputs {
    int[] liveShuffles();

    /** Returns ids of all executors that map statuses name. */
    Set<String> executors();

    /**
     * Unregisters these map outputs of a lost executor.
     *
     * @return how many of them were registered
     */
    int unregister(String executorId, int shuffleId, Set<Long> mapIds);

    /** Unregisters all map outputs of the executor; each of them would fail a stage. */
    void lost(String executorId);
  }

  private final LocationDirectory directory;
  private final BlockServerClient servers;
  private final MapOutputs outputs;
  private final DecisionTimes times;
  private final AwayNodes away;
  private final LongSupplier nanoClock;
  private final ScheduledExecutorService timer;

  /** Last answer of each node. */
  private final Map<PeerAddress, NodeResponse> lastHeard = new ConcurrentHashMap<>();

  /** Time since which each silent node has not answered. */
  private final Map<PeerAddress, Long> silentSince = new ConcurrentHashMap<>();

  /** Nodes that are being asked, because they did not answer executors. */
  private final Map<PeerAddress, CompletableFuture<Void>> checks = new ConcurrentHashMap<>();

  /**
   * Executors that were lost at the last look and had handed map outputs over. Guarded by this,
   * like the next two fields.
   */
  private Set<String> goneBefore = Set.of();

  /** Executors that were lost at the last look and had kept map outputs. */
  private Set<String> keptBefore = Set.of();

  private long forgotNanos;

  private final Executor blocking;

  /**
   * @param directory knows the nodes
   * @param servers sends the questions; closed with this
   * @param times for the decision about a node that did not answer an executor
   * @param away waits for nodes that refuse connections
   * @param timer renews until it is stopped, which precedes the close
   * @param blocking runs steps that block
   */
  NodeLifetimes(
      LocationDirectory directory,
      BlockServerClient servers,
      MapOutputs outputs,
      DecisionTimes times,
      AwayNodes away,
      LongSupplier nanoClock,
      ScheduledExecutorService timer,
      Executor blocking) {
    this.directory = directory;
    this.servers = servers;
    this.outputs = outputs;
    this.times = times;
    this.away = away;
    this.nanoClock = nanoClock;
    this.timer = timer;
    this.blocking = blocking;
    this.forgotNanos = nanoClock.getAsLong();
    timer.scheduleWithFixedDelay(
        this::renew, RENEW_EVERY_MS, RENEW_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  /** Tells all nodes which shuffles are live. Never blocks; completes normally when it has. */
  CompletableFuture<Void> renew() {
    try {
      unregisterKept();
      forgetUnneeded();
      return tell(renewal());
    } catch (RuntimeException | Error e) { // Either would end the timer.
      LOG.error(
          "Cannot tell the node daemons that the application is alive; trying again later", e);
      return CompletableFuture.completedFuture(null);
    }
  }

  /**
   * Unregisters the map outputs that only lost executors had. Call it when an executor is lost, and
   * again later: Spark may register the last ones a moment afterwards.
   */
  void unregisterKept() {
    directory
        .keptByGone()
        .forEach(
            (executorId, shuffles) -> {
              int lost = 0;
              for (Map.Entry<Integer, Set<Long>> shuffle : shuffles.entrySet()) {
                lost += outputs.unregister(executorId, shuffle.getKey(), shuffle.getValue());
              }
              if (lost > 0) {
                LOG.warn(
                    "Executor {} is gone, and with it {} map outputs that its node daemon had not"
                        + " taken; Spark writes them again when they are needed",
                    executorId,
                    lost);
              }
            });
  }

  private Function<PeerAddress, Lifetime> renewal() {
    // Reads the last answers before it lists the shuffles. Then the list contains all shuffles that
    // a node had when it last answered.
    Map<PeerAddress, NodeResponse> before = Map.copyOf(lastHeard);
    int[] live = outputs.liveShuffles();
    return node -> new Renew(before.getOrDefault(node, NodeResponse.NEVER), live);
  }

  /**
   * Asks a node that did not answer an executor. If it does not answer the driver either, and is
   * not a node that is away and waited for, the driver asks once more. If there is still no answer,
   * the map outputs of lost executors there are lost now, before their blocks fail one after the
   * other. A false report of an executor costs one message. Never blocks; completes when this is
   * decided.
   */
  CompletableFuture<Void> check(PeerAddress node) {
    if (!directory.nodes().contains(node)) {
      return CompletableFuture.completedFuture(null); // The node is lost, or has another id by now.
    }
    Lifetime question = renewal().apply(node);
    CompletableFuture<Void> decided = new CompletableFuture<>();
    CompletableFuture<Void> underWay = checks.putIfAbsent(node, decided);
    if (underWay != null) {
      return underWay;
    }
    CompletableFuture<NodeResponse> heard = new CompletableFuture<>();
    askUntilAnswered(node, question, heard);
    heard
        .orTimeout(times.checkMs(), TimeUnit.MILLISECONDS)
        .handleAsync(
            (answer, failure) -> {
              if (failure == null) {
                heard(node, answer);
              }
              return failure == null || isAway(node)
                  ? CompletableFuture.<Void>completedFuture(null)
                  : tryLast(node, question);
            },
            blocking)
        .thenCompose(last -> last)
        .whenComplete(
            (_, _) -> {
              checks.remove(node);
              decided.complete(null);
            });
    return decided;
  }

  /**
   * Asks once more a node whose daemon takes connections or whose machine does not answer: the
   * daemon may have begun to listen after the last question. Completes when this is decided.
   */
  private CompletableFuture<Void> tryLast(PeerAddress node, Lifetime question) {
    CompletableFuture<NodeResponse> heard = new CompletableFuture<>();
    askUntilAnswered(node, question, heard);
    return heard
        .orTimeout(times.lastTryMs(), TimeUnit.MILLISECONDS)
        .handleAsync(
            (answer, failure) -> {
              if (failure == null) {
                heard(node, answer);
              } else {
                lost(node, "does not answer");
              }
              return null;
            },
            blocking);
  }

  /** Asks until it answers: a daemon that is starting refuses at once, which proves nothing. */
  private void askUntilAnswered(
      PeerAddress node, Lifetime question, CompletableFuture<NodeResponse> heard) {
    if (!heard.isDone()) {
      servers
          .tell(node, question)
          .whenComplete(
              (answer, failure) -> {
                if (failure == null) {
                  heard.complete(answer);
                } else {
                  timer.schedule(
                      () -> askUntilAnswered(node, question, heard),
                      ASK_AGAIN_MS,
                      TimeUnit.MILLISECONDS);
                }
              });
    }
  }

  /**
   * Forgets lost executors that no map status names; the lock is for its fields alone. A minute
   * after its loss, Spark records no more tasks of an executor, so no reader will ask for these map
   * outputs.
   */
  synchronized void forgetUnneeded() {
    long nowNanos = nanoClock.getAsLong();
    if (nowNanos - forgotNanos < FORGET_EVERY_NANOS) {
      return;
    }
    forgotNanos = nowNanos;
    directory.forgetKept(keptBefore);
    keptBefore = directory.keptByGone().keySet();
    Set<String> gone = directory.goneAtNodes();
    if (gone.size() >= MIN_GONE) {
      Set<String> unneeded = new HashSet<>(goneBefore);
      unneeded.retainAll(gone);
      unneeded.removeAll(outputs.executors());
      directory.forgetAtNodes(unneeded);
    }
    goneBefore = gone;
  }

  /** Tells all nodes that the shuffle is over. Never blocks. */
  void unregister(int shuffleId) {
    tell(_ -> new RemoveShuffle(shuffleId));
  }

  /** Tells all nodes; completes, always normally, when each has answered or cannot be asked. */
  private CompletableFuture<Void> tell(Function<PeerAddress, Lifetime> message) {
    List<CompletableFuture<Void>> told =
        directory.nodes().stream().map(node -> tell(node, message.apply(node))).toList();
    return CompletableFuture.allOf(told.toArray(CompletableFuture[]::new));
  }

  private CompletableFuture<Void> tell(PeerAddress node, Lifetime message) {
    return servers
        .tell(node, message)
        .handleAsync(
            (answer, failure) -> {
              if (failure == null) {
                heard(node, answer);
              } else {
                LOG.debug("Node daemon {} did not answer {}", node, message, failure);
                if (!isAway(node)) {
                  silent(node);
                }
              }
              return null;
            },
            blocking);
  }

  /**
   * Returns true if a node that has not answered is away. Then it is waited for, or declared lost.
   * Blocks for {@link DecisionTimes#connectMs} at most.
   */
  private boolean isAway(PeerAddress node) {
    boolean isAway = away.isAway(node);
    if (!isAway) {
      LOG.debug("{} takes connections, and has not answered", node);
    } else if (away.isWaitedFor(node)) {
      silentSince.remove(node); // A daemon that hangs after its restart gets the full limit.
    } else {
      lost(node, "accepts no connections (spark.shuffle.rdma.node.awayTimeout)");
    }
    return isAway;
  }

  private void heard(PeerAddress node, NodeResponse answer) {
    silentSince.remove(node);
    away.answered(node);
    if (answer.nodeId().equals(node.id())) {
      lastHeard.put(node, answer);
      askVersion(node);
    } else {
      lastHeard.remove(node);
      directory.otherVersions().ended(process(node));
      if (answer.keeps(node.id())) {
        directory.nodeIsNow(node, answer.nodeId());
      } else {
        // For executors that Spark believes alive, the directory keeps the old id, to decide when
        // they are lost.
        lost(node, "has restarted without its earlier map outputs");
      }
    }
  }

  /** Asks a daemon for its version, until it tells it. It has another id after an update. */
  private void askVersion(PeerAddress node) {
    String process = process(node);
    if (!directory.otherVersions().ask(process)) {
      return;
    }
    servers
        .version(node)
        .whenComplete(
            (version, failure) -> {
              if (failure == null) {
                directory.otherVersions().answered(process, version);
              } else {
                LOG.debug("{} did not tell its version", process, failure);
                directory.otherVersions().unanswered(process);
              }
            });
  }

  private static String process(PeerAddress node) {
    return "Node daemon " + node;
  }

  private void silent(PeerAddress node) {
    long nowNanos = nanoClock.getAsLong();
    long sinceNanos = silentSince.computeIfAbsent(node, _ -> nowNanos);
    if (nowNanos - sinceNanos >= LOST_AFTER_NANOS) {
      lost(node, "does not answer");
    }
  }

  private void lost(PeerAddress node, String why) {
    for (String executorId : directory.nodeLost(node)) {
      LOG.warn(
          "Node daemon {} {}; the map outputs of executor {} there are lost, and Spark writes"
              + " them again when they are needed",
          node,
          why,
          executorId);
      outputs.lost(executorId);
    }
    directory.otherVersions().ended(process(node));
    silentSince.keySet().retainAll(directory.nodes());
    lastHeard.keySet().retainAll(directory.nodes());
  }

  /** Tells nodes that the application is over, so that they remove all of it. Waits 5 s at most. */
  @Override
  public void close() {
    tell(_ -> new EndApplication())
        .completeOnTimeout(null, END_TIMEOUT_MS, TimeUnit.MILLISECONDS)
        .join();
    servers.close();
  }
}
