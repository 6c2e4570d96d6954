package dev.sluice.spark;

import dev.sluice.blocks.BlockServerClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Heard;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.LocationDirectory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the block servers of an application's nodes, on the driver, which of its shuffles are over,
 * and every ten seconds which are not: what they hear nothing of they remove after a while. So it
 * also learns of those that were started again, and has the directory send readers there; and of
 * nodes that are lost. Any thread; the driver's side of the shuffle manager closes it.
 *
 * <p>It costs a message a node each time, and waits for none but when the application ends.
 */
final class NodeLifetimes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLifetimes.class);
  private static final long RENEW_EVERY_MS = 10_000;
  private static final long END_TIMEOUT_MS = 5_000;

  /** A block server that was started again answers within this time. */
  private static final long LOST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final LocationDirectory directory;
  private final BlockServerClient servers;
  private final Supplier<int[]> liveShuffles;
  private final Consumer<String> outputsLost;
  private final LongSupplier nanoClock;

  /** What nodes have answered last. */
  private final Map<PeerAddress, Heard> lastHeard = new ConcurrentHashMap<>();

  /** Since when nodes have not answered. */
  private final Map<PeerAddress, Long> silentSince = new ConcurrentHashMap<>();

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform()
              .daemon()
              .name("sluice-nodes")
              .inheritInheritableThreadLocals(false)
              .factory());

  /**
   * @param directory knows the nodes
   * @param servers asks them; closed with this
   * @param outputsLost is told of each executor all of whose map outputs are lost: Spark, which
   *     would find out by a stage's failure for each of a node's executors
   */
  NodeLifetimes(
      LocationDirectory directory,
      BlockServerClient servers,
      Supplier<int[]> liveShuffles,
      Consumer<String> outputsLost,
      LongSupplier nanoClock) {
    this.directory = directory;
    this.servers = servers;
    this.liveShuffles = liveShuffles;
    this.outputsLost = outputsLost;
    this.nanoClock = nanoClock;
    timer.scheduleWithFixedDelay(
        this::renew, RENEW_EVERY_MS, RENEW_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  /** Tells all nodes which shuffles live. Never blocks; completes, always normally, when it has. */
  CompletableFuture<Void> renew() {
    try {
      // In this order: what was on a node when it was last heard is of a shuffle that is listed.
      Map<PeerAddress, Heard> before = Map.copyOf(lastHeard);
      int[] live = liveShuffles.get();
      return tell(node -> new Renew(live, before.getOrDefault(node, Heard.NEVER)));
    } catch (RuntimeException e) {
      LOG.error("The nodes' block servers are not told that the application lives", e);
      return CompletableFuture.completedFuture(null);
    }
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
      directory.nodeIsNow(node, answer.nodeId());
    }
  }

  private void silent(PeerAddress node) {
    long nowNanos = nanoClock.getAsLong();
    long sinceNanos = silentSince.computeIfAbsent(node, _ -> nowNanos);
    if (nowNanos - sinceNanos >= LOST_AFTER_NANOS) {
      for (String executorId : directory.nodeLost(node)) {
        LOG.warn(
            "{} does not answer: what executor {} has written is to be written again",
            node,
            executorId);
        outputsLost.accept(executorId);
      }
      silentSince.keySet().retainAll(directory.nodes());
      lastHeard.keySet().retainAll(directory.nodes());
    }
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
