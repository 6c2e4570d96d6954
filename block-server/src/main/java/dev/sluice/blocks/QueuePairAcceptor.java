package dev.sluice.blocks;

import dev.sluice.rdma.QueuePairAddress;
import java.io.IOException;

/**
 * Gives peers queue pairs: the serving side of {@link dev.sluice.rdma.transfer.QueuePairConnector}.
 * Called on the block server's threads.
 */
public interface QueuePairAcceptor {
  /**
   * A queue pair connected to {@code remote}, through which the peer may READ.
   *
   * @throws IOException when there is none, with the reason that the peer is told
   */
  QueuePairAddress accept(String peerId, QueuePairAddress remote) throws IOException;

  /** The peer has closed its queue pair {@code remoteQpNumber}. */
  void disconnected(String peerId, int remoteQpNumber);

  /** The connection on which the peer asked has ended, and perhaps the peer with it. */
  void peerLeft(String peerId);
}
