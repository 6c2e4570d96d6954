// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.SoftAddress.Token;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the connection of a queue pair, and remembers its loss. One of the two sides connects, and
 * the other one waits. A connection that arrives before this side knows its peer is kept until
 * then.
 *
 * <p>The {@link SoftQueuePair} makes, calls and closes it. All calls hold the queue pair's lock:
 * {@link #dial} and {@link #introduce} on the event loop's thread, the others on any.
 */
final class Link {
  private record Early(Hello hello, SelectionKey key) {}

  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  private final SoftQueuePair queuePair;
  private final Initiator initiator;
  private final Responder responder;
  private final LeakTracker leaks;

  /** Address of the queue pair; null before INIT. */
  private @Nullable SoftAddress local;

  /** Address of the peer; null before RTR. */
  private @Nullable SoftAddress remote;

  private @Nullable SoftConnection connection;

  /**
   * An early connection from a holder of the token; it cannot be identified before the peer is
   * known.
   */
  private @Nullable Early early;

  private boolean tokenUsed;
  private boolean lost;

  Link(SoftQueuePair queuePair, Initiator initiator, Responder responder, LeakTracker leaks) {
    this.queuePair = queuePair;
    this.initiator = initiator;
    this.responder = responder;
    this.leaks = leaks;
  }

  private SoftAddress local() {
    return requireNonNull(local);
  }

  /** Allows connections of a peer that knows this address. */
  void listen(SoftAddress address) {
    local = address;
  }

  boolean isSelf(SoftAddress peer) {
    SoftAddress own = local();
    return peer.qpNumber() == own.qpNumber()
        && peer.port() == own.port()
        && peer.gid().equals(own.gid());
  }

  /** Connects to the peer, or takes its connection. */
  void connectTo(SoftAddress peer) {
    remote = peer;
    if (local().connectsTo(peer)) {
      closeEarly();
      queuePair.loop().execute(queuePair::dial);
    } else if (early != null) {
      Early arrived = early;
      early = null;
      accept(arrived.hello(), arrived.key(), peer);
    }
  }

  /** Opens the connection. On the event loop's thread. */
  void dial() {
    if (remote == null || connection != null || lost) {
      return;
    }
    SelectionKey key;
    try {
      key = Sockets.connect(remote.socketAddress(), queuePair.loop().selector());
    } catch (IOException e) {
      LOG.debug("{}: cannot connect to {}", queuePair, remote, e);
      lost = true;
      initiator.connectionLost();
      return;
    }
    connection = newConnection(key);
    connection.connect(
        new Hello(local().qpNumber(), local().token(), remote.qpNumber(), remote.token()));
  }

  /** Takes a connection for this queue pair. On the event loop's thread. */
  void introduce(Hello hello, SelectionKey key) {
    if (local == null || tokenUsed || !local.token().matches(hello.toToken())) {
      queuePair.device().refuse(key, queuePair, "without a valid token");
      return;
    }
    tokenUsed = true;
    if (remote == null) {
      key.interestOps(0);
      early = new Early(hello, key);
    } else {
      accept(hello, key, remote);
    }
  }

  private void accept(Hello hello, SelectionKey key, SoftAddress peer) {
    if (lost || local().connectsTo(peer)) {
      Sockets.close(key.channel());
    } else if (hello.from() == peer.qpNumber() && hello.fromToken().matches(peer.token())) {
      connection = newConnection(key);
      connection.accepted(queuePair.loop().now());
      queuePair.loop().wakeUp();
    } else {
      // The token is used up, so the peer itself cannot connect any more.
      queuePair.device().refuse(key, queuePair, "of another peer");
      lost = true;
      initiator.connectionLost();
    }
  }

  private SoftConnection newConnection(SelectionKey key) {
    return new SoftConnection(queuePair, initiator, responder, queuePair.loop(), key, leaks);
  }

  /** The connection; null before it is made and after it is lost. */
  @Nullable SoftConnection connection() {
    return connection;
  }

  /** Returns true if the connection was lost or can never be made. */
  boolean isLost() {
    return lost;
  }

  /** Closes the connection for good. No buffer of the queue pair is accessed afterwards. */
  void close() {
    lost = true;
    closeEarly();
    if (connection != null) {
      connection.close();
      connection = null;
    }
    responder.connectionLost();
  }

  private void closeEarly() {
    if (early != null) {
      Sockets.close(early.key().channel());
      queuePair.loop().wakeUp();
      early = null;
    }
  }

  /** Closes the connection so that another one can be made under another address. */
  void reset() {
    close();
    local = null;
    remote = null;
    tokenUsed = false;
    lost = false;
  }

  /**
   * The first bytes on a connection: both queue pairs, and the secrets of both. The {@link Link} of
   * the connecting side sends it, the {@link Acceptor} reads it.
   *
   * @param from number of the queue pair that connects
   * @param fromToken its secret, which the other side knows from the exchange of addresses
   * @param to number of the other queue pair
   * @param toToken its secret
   */
  record Hello(int from, Token fromToken, int to, Token toToken) {
    /** The letters SLUC. */
    private static final int MAGIC = 0x534C5543;

    static final int BYTES = 3 * Integer.BYTES + 2 * Token.BYTES;

    ByteBuffer encode() {
      ByteBuffer out = ByteBuffer.allocate(BYTES).putInt(MAGIC).putInt(from).putInt(to);
      fromToken.write(out);
      toToken.write(out);
      return out.flip();
    }

    /** Returns null if the bytes are not a hello. */
    static @Nullable Hello decode(ByteBuffer in) {
      if (in.getInt() != MAGIC) {
        return null;
      }
      int from = in.getInt();
      int to = in.getInt();
      return new Hello(from, Token.read(in), to, Token.read(in));
    }
  }
}
