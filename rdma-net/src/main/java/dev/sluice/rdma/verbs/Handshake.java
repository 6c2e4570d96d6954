// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.verbs.VerbsException;
import java.util.concurrent.CompletableFuture;

/**
 * Takes one queue pair from INIT to RTS together with its peer. Belongs to the queue pair, which
 * calls it under its lock, in the states that {@link dev.sluice.rdma.QueuePair} allows.
 */
sealed interface Handshake permits ControlHandshake, CmHandshake {
  /** At INIT: the {@link QueuePairAddress#providerData} for the peer. */
  byte[] offer(ChosenPort port);

  /** Implements {@link dev.sluice.rdma.QueuePair#rendezvous}. */
  CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs)
      throws VerbsException;

  /**
   * @param port as the queue pair took it at INIT
   * @return {@link QueuePairAddress#providerData} from now on; on the accepting side, the answer to
   *     the peer's offer
   */
  byte[] toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException;

  void toRts() throws VerbsException;

  /** Cancels everything under way, as the queue pair is closed or reset. */
  void end();
}
