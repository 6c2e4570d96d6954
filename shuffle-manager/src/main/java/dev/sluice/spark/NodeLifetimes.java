package dev.sluice.spark;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Heard;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.LocationDirectory;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the block servers of an application's nodes, on the driver, which of its shuffles are over,
 * and every ten seconds which are not: what they hear nothing of they remove after a while. So it
 * also learns of those that were started again, and has the directory send readers there; and of
 * nodes that are lost. Of executors that are gone the directory keeps where their nodes are until
 * no map status names them. Any thread; the driver's side of the shuffle manager closes it.
 *
 * <p>It costs a message a node each time, and waits for none but when the application ends.
 */
final class NodeLifetimes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLifetimes.class);
  private static final long RENEW_EVERY_MS = 10_000;

  /** Longer than a failed connection is remembered. */
  private static final long ASK_AGAIN_MS = 1_100;

  private static final long END_TIMEOUT_MS = 5_000;

  /** A block server that was started again answers within this time. */
  private static final long LOST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Those that are gone are looked up in all map statuses so often, and from so many on. */
  private static final long FORGET_EVERY_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final int MIN_GONE = 100;

  /** What Spark knows of map outputs. */
  interface MapOutputs {
    int[] liveShuffles();

    /** Ids of all executors that map statuses name. */
    Set<String> executors();

    /** All map outputs of the executor are lost, which would fail a stage for each. */
    void lost(String executorId);
  }

  private final LocationDirectory directory;
  private final BlockServerClient servers;
  private final MapOutputs outputs;
  private final long checkTimeoutMs;
  private final LongSupplier nanoClock;

  /** What nodes have answered last. */
  private final Map<PeerAddress, Heard> lastHeard = new ConcurrentHashMap<>();

  /** Since when nodes have not answered. */
  private final Map<PeerAddress, Long> silentSince = new ConcurrentHashMap<>();

  /** Nodes that executors have had no answer of, and that are being asked. */
  private final Map<PeerAddress, CompletableFuture<Void>> checks = new ConcurrentHashMap<>();

  /** Executors that were gone when that was looked up last. */
  private Set<String> goneBefore = Set.of();

  private long forgotNanos;

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("sluice-nodes"));

  /**
   * @param directory knows the nodes
   * @param servers asks them; closed with this
   * @param checkTimeoutMs for the answer of a node of which an executor had none; shorter than that
   *     executor waits for the driver
   */
  NodeLifetimes(
      LocationDirectory directory,
      BlockServerClient servers,
      MapOutputs outputs,
      long checkTimeoutMs,
      LongSupplier nanoClock) {
    this.directory = directory;
    this.servers = servers;
    this.outputs = outputs;
    this.checkTimeoutMs = checkTimeoutMs;
    this.nanoClock = nanoClock;
    this.forgotNanos = nanoClock.getAsLong();
    timer.scheduleWithFixedDelay(
        this::renew, RENEW_EVERY_MS, RENEW_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  /** Tells all nodes which shuffles live. Never blocks; completes, always normally, when it has. */
  CompletableFuture<Void> renew() {
    try {
      forgetUnneeded();
      return tell(renewal());
    } catch (RuntimeException | Error e) { // The timer would end with either.
      LOG.error("The nodes' block servers are not told that the application lives", e);
      return CompletableFuture.completedFuture(null);
    }
  }

  private Function<PeerAddress, Lifetime> renewal() {
    // In this order: what was on a node when it was last heard is of a shuffle that is listed.
    Map<PeerAddress, Heard> before = Map.copyOf(lastHeard);
    int[] live = outputs.liveShuffles();
    return node -> new Renew(live, before.getOrDefault(node, Heard.NEVER));
  }

  /**
   * An executor has had no answer of the node. Where the driver has none either, what executors
   * that are gone wrote there is lost now, before their blocks fail one after the other. What an
   * executor says in error costs a message. Never blocks; completes when that is decided.
   */
  CompletableFuture<Void> check(PeerAddress node) {
    if (!directory.nodes().contains(node)) {
      return CompletableFuture.completedFuture(null); // It is lost, or known by another id.
    }
    Lifetime question = renewal().apply(node);
    CompletableFuture<Void> decided = new CompletableFuture<>();
    CompletableFuture<Void> underWay = checks.putIfAbsent(node, decided);
    if (underWay != null) {
      return underWay;
    }
    CompletableFuture<Heard> heard = new CompletableFuture<>();
    askUntilAnswered(node, question, heard);
    heard
        .orTimeout(checkTimeoutMs, TimeUnit.MILLISECONDS)
        .whenCompleteAsync(
            (answer, failure) -> {
              if (failure == null) {
                heard(node, answer);
              } else {
                lost(node, "does not answer");
              }
            },
            timer)
        .whenComplete(
            (_, _) -> {
              checks.remove(node);
              decided.complete(null);
            });
    return decided;
  }

  /** Whose block server is being started refuses at once: that is no proof. */
  private void askUntilAnswered(
      PeerAddress node, Lifetime question, CompletableFuture<Heard> heard) {
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
   * No task that has ended on an executor which is gone is recorded a minute later: what no map
   * status names then nobody will ask for.
   */
  synchronized void forgetUnneeded() {
    long nowNanos = nanoClock.getAsLong();
    if (nowNanos - forgotNanos < FORGET_EVERY_NANOS) {
      return;
    }
    forgotNanos = nowNanos;
    Set<String> gone = directory.goneAtNodes();
    if (gone.size() >= MIN_GONE) {
      Set<String> unneeded = new HashSet<>(goneBefore);
      unneeded.retainAll(gone);
      unneeded.removeAll(outputs.executors());
      directory.forgetAtNodes(unneeded);
    }
    goneBefore = gone;
  }

  /** The shuffle is over. Never blocks. */
  void unregister(int shuffleId) {
    tell(_ -> new RemoveShuffle(shuffleId));
  }

  /** All nodes; completes, always normally, when each has answered or cannot be asked. */
  private CompletableFuture<Void> tell(Function<PeerAddress, Lifetime> message) {
    List<CompletableFuture<Void>> told =
        directory.nodes().stream().map(node -> tell(node, message.apply(node))).toList();
    return CompletableFuture.allOf(told.toArray(CompletableFuture[]::new));
  }

  private CompletableFuture<Void> tell(PeerAddress node, Lifetime message) {
    return servers
        .tell(node, message)
        .handle(
            (answer, failure) -> {
              if (failure == null) {
                heard(node, answer);
              } else {
                LOG.debug("{} is not told {}", node, message, failure);
                silent(node);
              }
              return null;
            });
  }

  private void heard(PeerAddress node, Heard answer) {
    silentSince.remove(node);
    if (answer.nodeId().equals(node.id())) {
      lastHeard.put(node, answer);
    } else {
      lastHeard.remove(node);
      if (answer.keeps(node.id())) {
        directory.nodeIsNow(node, answer.nodeId());
      } else {
        // Of executors that live, as Spark thinks, the directory keeps what to ask this of then.
        lost(node, "has begun anew");
      }
    }
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
          "{} {}: what executor {} has written is not looked for there any more",
          node,
          why,
          executorId);
      outputs.lost(executorId);
    }
    silentSince.keySet().retainAll(directory.nodes());
    lastHeard.keySet().retainAll(directory.nodes());
  }

  /** The application is over: all that nodes have of it goes. Waits 5 s for them at most. */
  @Override
  public void close() {
    timer.shutdownNow();
    tell(_ -> new EndApplication())
        .completeOnTimeout(null, END_TIMEOUT_MS, TimeUnit.MILLISECONDS)
        .join();
    servers.close();
  }
}
