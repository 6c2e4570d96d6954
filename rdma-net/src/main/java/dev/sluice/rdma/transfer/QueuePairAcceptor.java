// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.QueuePairAddress;
import java.util.concurrent.CompletableFuture;

/**
 * Gives peers queue pairs: the serving side of {@link QueuePairConnector}. The {@link RdmaEndpoint}
 * implements it. Called on the control channel's threads, for departures and returns with a lock of
 * the caller held.
 */
public interface QueuePairAcceptor {
  /**
   * Creates a queue pair that is connected to {@code remote}, through which the peer may READ.
   * Never blocks, since a device may take a second to connect it.
   *
   * @return fails with the reason that the peer is told; with a VerbsException, ENOMEM, if the
   *     limit of queue pairs is reached and none can be closed
   */
  CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote);

  /** Reports that the peer has closed its queue pair {@code remoteQpNumber}. */
  void disconnected(String peerId, int remoteQpNumber);

  /**
   * Reports that the peer's last connection has ended, and perhaps the peer with it. Unless it
   * returns soon, the queue pairs that it has requested so far, connected or not, are closed. Never
   * blocks.
   */
  void peerLeft(String peerId);

  /** Reports a message of the peer over a new connection. Never blocks. */
  void peerReturned(String peerId);
}
