package dev.sluice.rdma.transfer;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;

/** Exchanges queue pair parameters with a peer over an authenticated control channel. */
public interface QueuePairConnector {
  /**
   * Asks the peer for a queue pair that is connected to {@code local}. Never blocks.
   *
   * @param providerName provider of the local device; a peer with another one refuses
   * @return the peer's queue pair; completes exceptionally when the peer refuses or cannot be
   *     reached within the channel's own deadline
   */
  CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local);

  /**
   * Tells the peer that the queue pair {@code localQpNumber} of this process is closed, so that it
   * closes its side ({@link RdmaEndpoint#disconnected}). Fire and forget: a message that is lost
   * costs the peer a queue pair until it needs room or loses this process. Never blocks.
   */
  default void released(PeerAddress peer, int localQpNumber) {}
}
