package dev.sluice.rdma.soft;

import dev.sluice.rdma.leak.LeakTracker;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a queue pair comes by its connection, and that it has lost it. Of the two sides one connects
 * and the other waits for it; a connection that comes before this side knows its peer is kept until
 * then. Everything is called with the queue pair's lock held; the queue pair closes it.
 */
final class Link {
  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  private final SoftQueuePair queuePair;
  private final Initiator initiator;
  private final Responder responder;
  private final LeakTracker leaks;
  private SoftAddress local;
  private SoftAddress remote;
  private Connection connection;

  /** Connected by somebody who knows the token; who it is cannot be checked yet. */
  private SelectionKey early;

  private Hello earlyHello;
  private boolean tokenUsed;
  private boolean lost;

  Link(SoftQueuePair queuePair, Initiator initiator, Responder responder, LeakTracker leaks) {
    this.queuePair = queuePair;
    this.initiator = initiator;
    this.responder = responder;
    this.leaks = leaks;
  }

  /** From now on a peer that knows this address may connect. */
  void listen(SoftAddress address) {
    local = address;
  }

  boolean isSelf(SoftAddress peer) {
    return peer.qpNumber() == local.qpNumber()
        && peer.port() == local.port()
        && peer.gid().equals(local.gid());
  }

  /** Connects to the peer, or takes its connection. */
  void connectTo(SoftAddress peer) {
    remote = peer;
    if (local.connectsTo(peer)) {
      closeEarly();
      queuePair.loop().execute(queuePair::dial);
    } else if (early != null) {
      SelectionKey key = early;
      early = null;
      accept(earlyHello, key);
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
        new Hello(local.qpNumber(), local.token(), remote.qpNumber(), remote.token()));
  }

  /** A peer has connected to this queue pair. On the event loop's thread. */
  void introduce(Hello hello, SelectionKey key) {
    if (local == null || tokenUsed || !local.token().matches(hello.toToken())) {
      queuePair.device().refuse(key, queuePair, "without its token");
      return;
    }
    tokenUsed = true;
    if (remote == null) {
      key.interestOps(0);
      early = key;
      earlyHello = hello;
    } else {
      accept(hello, key);
    }
  }

  private void accept(Hello hello, SelectionKey key) {
    if (lost || local.connectsTo(remote)) {
      Sockets.close(key.channel());
    } else if (hello.from() == remote.qpNumber() && hello.fromToken().matches(remote.token())) {
      connection = newConnection(key);
      connection.accepted(queuePair.loop().now());
      queuePair.loop().wakeUp();
    } else {
      // The token is used up, so the peer itself cannot connect any more.
      queuePair.device().refuse(key, queuePair, "that is not its peer's");
      lost = true;
      initiator.connectionLost();
    }
  }

  private Connection newConnection(SelectionKey key) {
    return new Connection(queuePair, initiator, responder, queuePair.loop(), key, leaks);
  }

  /** The connection; null before it is made and after it is lost. */
  Connection connection() {
    return connection;
  }

  /** Whether there was, or will never be, a connection. */
  boolean isLost() {
    return lost;
  }

  /** Closes the connection for good; afterwards no buffer of the queue pair is touched. */
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
      Sockets.close(early.channel());
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
}
