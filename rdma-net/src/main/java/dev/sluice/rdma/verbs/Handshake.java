package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;
import java.util.concurrent.CompletableFuture;

/**
 * How one queue pair gets from INIT to RTS with its peer. Belongs to the queue pair, which calls it
 * with its own lock held, in the states that the seam allows.
 */
sealed interface Handshake permits ControlHandshake, CmHandshake {
  /** At INIT: what the peer is told in {@link QueuePairAddress#providerData}. */
  byte[] offer(ChosenPort port);

  /** {@link dev.sluice.rdma.QueuePair#rendezvous}. */
  CompletableFuture<QueuePairAddress> meet(QueuePairAddress remote, long timeoutMs)
      throws VerbsException;

  /**
   * @param port as the queue pair took it at INIT
   */
  void toRtr(
      ChosenPort port,
      QueuePairAddress local,
      QueuePairAddress remote,
      ConnectionAttributes attributes)
      throws VerbsException;

  void toRts() throws VerbsException;

  /** The queue pair is closed or reset: whatever is under way is called off. */
  void end();
}
