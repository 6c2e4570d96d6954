package dev.sluice.rdma.transfer;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;

/**
 * Gives peers queue pairs: the serving side of {@link QueuePairConnector}. Called on the control
 * channel's threads.
 */
public interface QueuePairAcceptor {
  /**
   * A queue pair connected to {@code remote}, through which the peer may READ. Never blocks: a
   * device may take a second to connect one.
   *
   * @return fails when there is none, with the reason that the peer is told; with a VerbsException,
   *     ENOMEM, when the limit of queue pairs is reached and none is idle
   */
  CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote);

  /** The peer has closed its queue pair {@code remoteQpNumber}. */
  void disconnected(String peerId, int remoteQpNumber);

  /**
   * The connection on which the peer asked has ended, and perhaps the peer with it: what it has
   * asked for until now, connected or not yet, may have to make room. Never blocks.
   */
  void peerLeft(String peerId);
}
