// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Connect;
import dev.sluice.blocks.wire.ControlMessages.Connected;
import dev.sluice.blocks.wire.ControlMessages.Content;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.ControlMessages.Released;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.LifetimeMessages;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.NodeRequest;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.VersionRequest;
import dev.sluice.blocks.wire.LifetimeMessages.VersionResponse;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Client of peers' block servers, over Spark's transport. Never blocks the caller.
 *
 * <p>An executor's {@code ReadingRuntime} creates one, and closes it after the RDMA endpoint that
 * connects through it. The driver's {@code DriverRuntime} has one for messages to nodes. Any thread
 * may call it. Answers come on the transport's threads, and dependents of the futures run there.
 * Each request is answered within its timeout.
 *
 * <p>Each peer that is asked has one connection: 1,000 sockets at 1,000 executors. A connection is
 * closed when its peer is lost; the rest of one that ended otherwise is dropped when another peer
 * is asked. A location takes 30 bytes on the way: resolving all 100 map outputs of a peer takes 3
 * KB, those of all peers 3 MB, whatever the number of partitions.
 */
public final class BlockServerClient implements QueuePairConnector, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockServerClient.class);

  /**
   * Limit of a peer's heap for requests to stage that it has not answered. A larger request is sent
   * alone. Two requests for 1,000 blocks each fit.
   */
  private static final long MAX_UNANSWERED_BYTES = 256 << 10;

  /** A request that failed after a shorter wait had no time: that says nothing about the peer. */
  private static final long IN_VAIN_MS = 1_000;

  private final ProcessName self;
  private final TransferOptions options;
  private final long resolveTimeoutMs;
  private final LongSupplier clockMs;
  private final Executor blocking;
  private final MessageCodec codec =
      new MessageCodec(ControlMessages.TYPES, LifetimeMessages.TYPES, NodeMessages.TYPES);
  private final TransportContext context;
  private final TransportClientFactory factory;
  private final ConcurrentHashMap<PeerAddress, PeerChannel> channels = new ConcurrentHashMap<>();
  private final PeerQuota<PeerAddress> requests =
      new PeerQuota<>(Long.MAX_VALUE, MAX_UNANSWERED_BYTES);
  private volatile boolean closed;

  /**
   * @param self this process, with its {@link PeerAddress#id}
   * @param conf its connection creation timeout limits an attempt to connect; requests that wait
   *     for it may fail earlier, at their own timeouts
   * @param bootstraps authenticate new connections
   * @param options time for each {@link #exchange}, connecting included, and the circuit breaker's
   *     settings, which apply to a peer that does not stage in time as to one whose READs fail
   * @param resolveTimeoutMs deadline of each {@link #resolve}, connecting included: longer, because
   *     the peer may have to register the map outputs first
   * @param clockMs a monotonic clock in milliseconds
   * @param blocking runs attempts to connect, each on a thread of its own
   */
  public BlockServerClient(
      ProcessName self,
      TransportConf conf,
      List<TransportClientBootstrap> bootstraps,
      TransferOptions options,
      long resolveTimeoutMs,
      LongSupplier clockMs,
      Executor blocking) {
    this.self = self;
    this.options = options;
    this.resolveTimeoutMs = resolveTimeoutMs;
    this.clockMs = clockMs;
    this.blocking = blocking;
    context = new TransportContext(conf, new NoOpRpcHandler(), false, true);
    factory = context.createClientFactory(bootstraps);
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    Connect connect = new Connect(name(peer), self.id(), providerName, local);
    return request(peer, connect, options.connectTimeoutMs(), null)
        .thenCompose(answer -> expected(Connected.class, peer, answer))
        .thenApply(Connected::queuePair);
  }

  /** Sends nothing if there is no connection to the peer: it may be gone. */
  @Override
  public void released(PeerAddress peer, int localQpNumber) {
    PeerChannel channel = channels.get(peer);
    if (channel != null) {
      channel.sendIfConnected(to(peer, new Released(self.id(), localQpNumber)));
    }
  }

  /**
   * See {@link dev.sluice.blocks.registry.MapOutputRegistry#resolve}. Large requests are split.
   *
   * @return completes exceptionally if the peer cannot be asked
   */
  public CompletableFuture<List<MapOutputLocation>> resolve(
      PeerAddress peer, int shuffleId, long[] mapIds) {
    List<CompletableFuture<List<MapOutputLocation>>> parts = new ArrayList<>();
    for (int from = 0; from < mapIds.length; from += ControlMessages.MAX_RESOLVE) {
      int to = Math.min(mapIds.length, from + ControlMessages.MAX_RESOLVE);
      parts.add(resolvePart(peer, shuffleId, Arrays.copyOfRange(mapIds, from, to)));
    }
    return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
        .thenApply(done -> parts.stream().flatMap(part -> part.join().stream()).toList());
  }

  private CompletableFuture<List<MapOutputLocation>> resolvePart(
      PeerAddress peer, int shuffleId, long[] mapIds) {
    return request(peer, to(peer, new Resolve(shuffleId, mapIds)), resolveTimeoutMs, null)
        .thenCompose(
            answer ->
                answer instanceof Resolved resolved && answers(resolved.locations(), mapIds)
                    ? CompletableFuture.completedFuture(resolved.locations())
                    : unexpected(peer, answer));
  }

  private static boolean answers(List<MapOutputLocation> locations, long[] mapIds) {
    boolean matches = locations.size() == mapIds.length;
    for (int i = 0; matches && i < mapIds.length; i++) {
      matches = locations.get(i) == null || locations.get(i).mapId() == mapIds[i];
    }
    return matches;
  }

  /**
   * Asks the peer to stage blocks of map outputs that it has not registered. The caller reports
   * {@link #done} once it has READ the copy or no longer wants it. A peer that repeatedly does not
   * answer in time is not asked for a while. A request to a peer with many unanswered ones waits
   * here, so that the peer need not hold the requests of all tasks. The answer counts that wait as
   * the peer's time.
   *
   * @return {@link Staged} or {@link NotStaged}; completes exceptionally with a {@link
   *     CircuitOpenException} if the peer is not asked for a while, with a {@link
   *     LateAnswerException} if it does not answer in the time that the request has, and with
   *     another exception if it cannot be asked
   */
  public CompletableFuture<Object> stage(PeerAddress peer, Stage request) {
    long bytes = request.heapBytes();
    long deadlineMs = clockMs.getAsLong() + request.timeLeftMs();
    CompletableFuture<Void> turn = new CompletableFuture<>();
    Runnable taker =
        () -> {
          if (!turn.complete(null)) {
            requests.release(peer, bytes); // The wait has timed out.
          }
        };
    if (!requests.acquire(peer, bytes, taker)) {
      turn.orTimeout(request.timeLeftMs(), TimeUnit.MILLISECONDS);
    }
    return turn.exceptionallyCompose(
            e ->
                CompletableFuture.failedFuture(
                    new LateAnswerException(
                        peer + " did not answer earlier requests to stage in time", e)))
        .thenCompose(
            _ ->
                CompletableFuture.completedFuture((int) (deadlineMs - clockMs.getAsLong()))
                    .thenCompose(leftMs -> ask(peer, request, leftMs))
                    .whenComplete((_, _) -> requests.release(peer, bytes)));
  }

  private CompletableFuture<Object> ask(PeerAddress peer, Stage request, int leftMs) {
    CircuitBreaker breaker = channel(peer).staging();
    long askedMs = clockMs.getAsLong();
    if (!breaker.admits(askedMs)) {
      return CompletableFuture.failedFuture(
          new CircuitOpenException(
              peer + " repeatedly did not stage in time, and is not asked again for some time"));
    }
    int outcomes = breaker.outcomes();
    long waitedNanos = TimeUnit.MILLISECONDS.toNanos(request.timeLeftMs() - leftMs);
    return request(peer, to(peer, request.within(leftMs)), leftMs, late -> giveBack(peer, late))
        .whenComplete(
            (answer, _) -> {
              if (judge(breaker, outcomes, answer instanceof Staged, askedMs, leftMs)) {
                LOG.warn(
                    "{} repeatedly did not answer requests to stage in time; not sending it more"
                        + " for some time (setting circuit.cooldown)",
                    peer);
              }
            })
        .thenCompose(
            answer -> {
              if (answer instanceof Staged staged) {
                return CompletableFuture.completedFuture(staged.after(waitedNanos));
              }
              return answer instanceof NotStaged
                  ? CompletableFuture.completedFuture(answer)
                  : unexpected(peer, answer);
            });
  }

  /**
   * Reports an ended request to its breaker. A refusal counts as success, unless it took half of
   * the time or more.
   *
   * @param outcomes number of the breaker's outcomes when the peer was asked
   * @param done true if the peer staged
   * @return true if this opened the breaker
   */
  private boolean judge(
      CircuitBreaker breaker, int outcomes, boolean done, long askedMs, int timeLeftMs) {
    long nowMs = clockMs.getAsLong();
    long waitedMs = nowMs - askedMs;
    if (done || waitedMs < timeLeftMs / 2) {
      breaker.succeeded();
      return false;
    }
    if (waitedMs < IN_VAIN_MS) {
      breaker.probeEnded(nowMs);
      return false;
    }
    return breaker.failed(outcomes, nowMs);
  }

  /** Ends the lease of an answer that came too late for its caller. */
  private void giveBack(PeerAddress peer, Object late) {
    if (late instanceof Staged lease && lease.region().length() > 0) {
      done(peer, lease.leaseId());
    }
  }

  /** Ends a lease. No answer; sends nothing to a peer that is lost. */
  public void done(PeerAddress peer, long leaseId) {
    PeerChannel channel = channels.get(peer);
    if (channel != null) {
      channel.send(new Done(name(peer), self.id(), leaseId));
    }
  }

  /**
   * Tells a node daemon that a shuffle or this process's application is over, or lives.
   *
   * @return the answer; completes exceptionally if the peer cannot be asked or is not a node, or if
   *     another application has its port by now
   */
  public CompletableFuture<NodeResponse> tell(PeerAddress node, Lifetime message) {
    return request(node, new NodeRequest(self.application(), message), resolveTimeoutMs, null)
        .thenCompose(answer -> expected(NodeResponse.class, node, answer));
  }

  /**
   * Asks a node daemon for its version of Sluice; empty if the daemon does not know it. Completes
   * exceptionally if the peer cannot be asked or is not a node.
   */
  public CompletableFuture<String> version(PeerAddress node) {
    return request(node, new VersionRequest(), resolveTimeoutMs, null)
        .thenCompose(answer -> expected(VersionResponse.class, node, answer))
        .thenApply(VersionResponse::version);
  }

  /**
   * Asks a node daemon for the block server of a MapReduce job, which answers over the same
   * connection from then on. This process has to authenticate with the job's name and secret.
   *
   * @param jobPort the daemon's port for all jobs of its node; its id is not used
   * @return the server's name and provider, whose address is that of the port; completes
   *     exceptionally if the daemon cannot be asked or does not serve the job
   */
  public CompletableFuture<Registered> findJob(PeerAddress jobPort, String application) {
    return request(jobPort, new FindJob(application), resolveTimeoutMs, null)
        .thenCompose(answer -> expected(Registered.class, jobPort, answer));
  }

  /**
   * Gives a connection the name that its peer has told, so that later requests to the peer use it.
   * Requests that go to the peer already keep their own connection; this one is then closed.
   *
   * @param from name by which the peer was asked for its own
   * @param to its own name, at the same host and port
   */
  public void rename(PeerAddress from, PeerAddress to) {
    PeerChannel channel = channels.remove(from);
    if (channel == null) {
      return;
    }
    channel.rename(to);
    PeerChannel kept = channels.compute(to, (_, old) -> old != null && old.use() ? old : channel);
    if (kept != channel) {
      channel.close();
    }
    if (closed) {
      peerLost(to);
    }
  }

  private ProcessName name(PeerAddress peer) {
    return new ProcessName(self.application(), peer.id());
  }

  private Addressed to(PeerAddress peer, Content content) {
    return new Addressed(name(peer), self.id(), content);
  }

  /**
   * Tells the peer that this process READs from the shuffle. No answer. Sends at most one message
   * in 10 s for a peer and shuffle, so readers may call it for each batch.
   */
  public void touch(PeerAddress peer, int shuffleId) {
    PeerChannel channel = channel(peer);
    if (!closed && channel.touchIsDue(shuffleId)) {
      channel.send(to(peer, new Touch(shuffleId)));
    }
  }

  /** Closes the connection to a peer that is gone, which fails its unanswered requests. */
  public void peerLost(PeerAddress peer) {
    PeerChannel channel = channels.remove(peer);
    if (channel != null) {
      channel.close();
    }
  }

  /** Fails all unanswered requests. Idempotent. */
  @Override
  public void close() {
    closed = true;
    channels.keySet().forEach(this::peerLost);
    factory.close();
    context.close();
  }

  private PeerChannel channel(PeerAddress peer) {
    PeerChannel known = channels.get(peer);
    if (known != null && known.use()) {
      return known;
    }
    // A peer may have been asked again after its loss, which is not reported a second time.
    channels.values().removeIf(PeerChannel::closeIfAbandoned);
    return channels.compute(
        peer,
        (key, old) ->
            old != null && old.use()
                ? old
                : new PeerChannel(
                    key,
                    factory,
                    blocking,
                    codec,
                    new CircuitBreaker(options.circuitFailures(), options.circuitCooldownMs()),
                    clockMs));
  }

  /** Number of peers with a connection, or with a recent one. */
  int channels() {
    return channels.size();
  }

  /**
   * @param late takes an answer that comes after the timeout; null if it may be lost
   */
  private CompletableFuture<Object> request(
      PeerAddress peer, Object message, long timeoutMs, @Nullable Consumer<Object> late) {
    if (closed) {
      return failure("request to " + peer + ": the client is closed");
    }
    PeerChannel channel = channel(peer);
    CompletableFuture<Object> answer = channel.request(message, timeoutMs, late);
    if (closed) {
      peerLost(peer);
    }
    return answer;
  }

  private static <T> CompletableFuture<T> expected(Class<T> type, PeerAddress peer, Object answer) {
    return type.isInstance(answer)
        ? CompletableFuture.completedFuture(type.cast(answer))
        : unexpected(peer, answer);
  }

  private static <T> CompletableFuture<T> unexpected(PeerAddress peer, Object answer) {
    return failure(
        answer instanceof Refused refused
            ? peer + " refuses: " + refused.reason()
            : peer + " answers with an unexpected " + answer.getClass().getSimpleName());
  }

  private static <T> CompletableFuture<T> failure(String reason) {
    return CompletableFuture.failedFuture(new IOException(reason));
  }
}
