// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;

/**
 * Exchanges queue pair parameters with a peer over an authenticated control channel. The client of
 * the peers' block servers implements it. Called on the endpoint's threads {@code sluice-connect},
 * and also on the engine's thread for {@link #released}.
 */
public interface QueuePairConnector {
  /**
   * Asks the peer for a queue pair that is connected to {@code local}. Never blocks.
   *
   * @param providerName provider of the local device; a peer with another provider refuses
   * @return the peer's queue pair; completes exceptionally if the peer refuses or cannot be reached
   *     within the channel's own deadline
   */
  CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local);

  /**
   * Tells the peer that this process has closed its queue pair {@code localQpNumber}, so that the
   * peer closes its side ({@link RdmaEndpoint#disconnected}). Fire and forget: if the message is
   * lost, the peer keeps a queue pair until it needs room or loses this process. Never blocks.
   */
  default void released(PeerAddress peer, int localQpNumber) {}
}
