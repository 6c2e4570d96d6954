// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection to one peer's block server. It connects when there is something to send and no
 * connection, at most once a second while that fails.
 *
 * <p>The {@link BlockServerClient} creates one for each peer and closes it. Any thread; dependents
 * of an answer run without the lock. Connecting blocks in Spark's transport, so each attempt has a
 * virtual thread: in a small pool, a rack that does not answer would keep all threads from
 * connecting elsewhere. There is one attempt per peer at a time.
 *
 * <p>In addition to the socket it takes 100 bytes for each of the {@link #TOUCHES} shuffles that
 * were READ last.
 */
final class PeerChannel {
  private static final Logger LOG = LoggerFactory.getLogger(PeerChannel.class);

  static final long RECONNECT_INTERVAL_MS = 1_000;

  /** A channel without a connection for this time is abandoned. */
  static final long ABANDONED_AFTER_MS = 60_000;

  /**
   * Maximum number of shuffles whose last touch is remembered. Beyond it the earliest touch is
   * forgotten, and that shuffle is touched once too often.
   */
  static final int TOUCHES = 1_000;

  private volatile PeerAddress peer;
  private final TransportClientFactory factory;
  private final Executor threads;
  private final MessageCodec codec;
  private final LongSupplier clockMs;

  private final CircuitBreaker staging;

  /** Breaker for attempts to connect. */
  private final CircuitBreaker attempts = CircuitBreaker.pausing(RECONNECT_INTERVAL_MS);

  // Guarded by this.
  private final LinkedHashMap<Integer, Long> touchedMs = new LinkedHashMap<>(); // earliest first
  private @Nullable CompletableFuture<TransportClient> connection;
  private long usedMs;
  private boolean closed;

  /**
   * @param threads runs each attempt to connect on a thread of its own
   * @param staging breaker for requests to stage
   */
  PeerChannel(
      PeerAddress peer,
      TransportClientFactory factory,
      Executor threads,
      MessageCodec codec,
      CircuitBreaker staging,
      LongSupplier clockMs) {
    this.peer = peer;
    this.factory = factory;
    this.threads = threads;
    this.codec = codec;
    this.staging = staging;
    this.clockMs = clockMs;
    usedMs = clockMs.getAsLong();
  }

  /**
   * Sends a message once connected; completes with its answer, or exceptionally.
   *
   * @param late takes an answer that comes after the timeout; null if it may be lost
   */
  CompletableFuture<Object> request(
      Object message, long timeoutMs, @Nullable Consumer<Object> late) {
    Object named = message instanceof Addressed addressed ? addressed.content() : message;
    Request request = new Request(named.getClass().getSimpleName(), late);
    try {
      byte[] frame = codec.encode(message);
      connection().whenComplete((client, e) -> request.send(client, frame, e));
    } catch (Throwable e) { // Errors too: each request is answered.
      request.onFailure(e);
    }
    return request.answer(timeoutMs);
  }

  /** Sends a message without an answer once connected. It is lost if connecting fails. */
  void send(Object message) {
    connection().thenAccept(client -> send(client, message));
  }

  /** Sends a message without an answer; does nothing if there is no connection. */
  void sendIfConnected(Object message) {
    CompletableFuture<TransportClient> current;
    synchronized (this) {
      current = connection;
    }
    if (current != null && isConnected(current)) {
      send(current.join(), message);
    }
  }

  private void send(TransportClient client, Object message) {
    try {
      client.send(ByteBuffer.wrap(codec.encode(message)));
    } catch (MessageException e) {
      LOG.warn("A message to {} could not be encoded and was not sent", peer, e);
    }
  }

  /** Returns true if a touch of the shuffle is due, and records it as sent. */
  synchronized boolean touchIsDue(int shuffleId) {
    long nowMs = clockMs.getAsLong();
    Long lastMs = touchedMs.get(shuffleId);
    if (lastMs != null && nowMs - lastMs < Touch.INTERVAL_MS) {
      return false;
    }
    touchedMs.putLast(shuffleId, nowMs);
    if (touchedMs.size() > TOUCHES) {
      touchedMs.pollFirstEntry();
    }
    return true;
  }

  /** Changes the peer's name, by which messages about it call it. Its address stays. */
  void rename(PeerAddress named) {
    peer = named;
  }

  /** Breaker for requests to stage. */
  CircuitBreaker staging() {
    return staging;
  }

  /** Fails all unanswered requests, and later ones. Idempotent. */
  void close() {
    CompletableFuture<TransportClient> current;
    synchronized (this) {
      closed = true;
      current = connection;
    }
    if (current != null) {
      current.completeExceptionally(new IOException("Connection to " + peer + " is closed"));
      if (isConnected(current)) {
        TransportClient client = current.join();
        client.timeOut();
        client.getChannel().close();
      }
    }
  }

  /**
   * Notes that the channel is about to be used, so that it is not abandoned meanwhile.
   *
   * @return false if it is closed
   */
  synchronized boolean use() {
    usedMs = clockMs.getAsLong();
    return !closed;
  }

  /** Closes the channel if it has no connection and has not been used for a while. */
  synchronized boolean closeIfAbandoned() {
    boolean inUse = connection != null && (!connection.isDone() || isConnected(connection));
    closed |= !inUse && clockMs.getAsLong() - usedMs >= ABANDONED_AFTER_MS;
    return closed;
  }

  private static boolean isConnected(CompletableFuture<TransportClient> connection) {
    return connection.state() == Future.State.SUCCESS && connection.resultNow().isActive();
  }

  /** Returns the connection, which may still be on its way or have failed a moment ago. */
  private synchronized CompletableFuture<TransportClient> connection() {
    if (!use()) {
      return CompletableFuture.failedFuture(
          new IOException("Connection to " + peer + " is closed"));
    }
    if (connection != null
        && (!connection.isDone() || isConnected(connection) || attempts.isOpen(usedMs))) {
      return connection;
    }
    CompletableFuture<TransportClient> attempt = new CompletableFuture<>();
    connection = attempt;
    try {
      threads.execute(() -> connect(attempt));
    } catch (Throwable e) { // Errors too: there may be no memory for a thread.
      failed(attempt, e);
    }
    return attempt;
  }

  private void connect(CompletableFuture<TransportClient> attempt) {
    try {
      TransportClient client = factory.createUnmanagedClient(peer.host(), peer.port());
      if (!attempt.complete(client)) {
        client.close();
      }
    } catch (Throwable e) { // Errors too: no other code ends the attempt.
      failed(attempt, e);
    }
  }

  private void failed(CompletableFuture<TransportClient> attempt, Throwable e) {
    attempts.failed(clockMs.getAsLong());
    attempt.completeExceptionally(new IOException("No connection to " + peer, e));
  }

  /** One request: its callback and the future of its answer. */
  private final class Request implements RpcResponseCallback {
    private final String name;
    private final @Nullable Consumer<Object> late;
    private final CompletableFuture<Object> answer = new CompletableFuture<>();

    Request(String name, @Nullable Consumer<Object> late) {
      this.name = name;
      this.late = late;
    }

    void send(TransportClient client, byte[] frame, Throwable failure) {
      if (failure != null) {
        onFailure(failure);
      } else if (!answer.isDone()) {
        long id = client.sendRpc(ByteBuffer.wrap(frame), this);
        if (late == null) {
          answer.whenComplete((message, e) -> client.removeRpcRequest(id));
        }
      }
    }

    @Override
    public void onSuccess(ByteBuffer response) {
      try {
        Object message = codec.decode(response);
        if (!answer.complete(message) && late != null) {
          late.accept(message);
        }
      } catch (MessageException e) {
        onFailure(e);
      }
    }

    @Override
    public void onFailure(Throwable e) {
      answer.completeExceptionally(
          new IOException("%s to %s failed: %s".formatted(name, peer, firstLine(e)), e));
    }

    /** First line of a failure: the server sends its whole stack trace. */
    private static String firstLine(Throwable e) {
      return e.toString().lines().findFirst().orElseThrow();
    }

    CompletableFuture<Object> answer(long timeoutMs) {
      return answer
          .orTimeout(timeoutMs, TimeUnit.MILLISECONDS)
          .exceptionallyCompose(
              e ->
                  CompletableFuture.failedFuture(
                      e instanceof TimeoutException
                          ? new LateAnswerException(
                              "%s to %s: no answer within %d ms".formatted(name, peer, timeoutMs),
                              e)
                          : e));
    }
  }
}
