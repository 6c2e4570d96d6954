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
}
