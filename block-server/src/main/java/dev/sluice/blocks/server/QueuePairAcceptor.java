package dev.sluice.blocks.server;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;

/**
 * Gives peers queue pairs: the serving side of {@link dev.sluice.rdma.transfer.QueuePairConnector}.
 * Called on the block server's threads.
 */
public interface QueuePairAcceptor {
  /**
   * A queue pair connected to {@code remote}, through which the peer may READ. Never blocks: a
   * device may take a second to connect one.
   *
   * @return fails when there is none, with the reason that the peer is told
   */
  CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote);

  /** The peer has closed its queue pair {@code remoteQpNumber}. */
  void disconnected(String peerId, int remoteQpNumber);

  /** The connection on which the peer asked has ended, and perhaps the peer with it. */
  void peerLeft(String peerId);
}
