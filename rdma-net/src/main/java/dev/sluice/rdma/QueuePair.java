// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A reliable-connected queue pair (ibv_create_qp(3), ibv_modify_qp(3)), for RDMA READ alone. Any
 * thread: implementations lock. Threads of the endpoint connect it, its read thread posts, and its
 * creator closes it.
 *
 * <p>Work requests complete in posting order. The first one that fails moves the queue pair to
 * ERROR. Every other work request, pending or posted later, completes exactly once with
 * WR_FLUSH_ERR. A successful work request generates a completion only if it was signaled. The
 * completion of a signaled one also means that all before it are done.
 */
public interface QueuePair extends AutoCloseable {
  /** 24 bits, unique on the device. */
  int qpNumber();

  /** Returns the state, from the device if it can move the queue pair to ERROR by itself. */
  QueuePairState state();

  /**
   * True if the queue pair is known to be in ERROR. Does not ask the device: for a queue pair that
   * peers can break, the device reports the error by an event.
   */
  default boolean hasFailed() {
    return state() == QueuePairState.ERROR;
  }

  /**
   * Returns the parameters that the peer needs to connect to this queue pair. The connecting side
   * calls this in INIT. The accepting side calls it after RTR, since its address may answer an
   * offer in the peer's address.
   */
  QueuePairAddress address();

  /**
   * RESET to INIT.
   *
   * @param access REMOTE_READ if the peer may READ through this queue pair; empty for a pure
   *     initiator
   * @throws VerbsException EINVAL in another state
   */
  void toInit(Set<AccessFlag> access) throws VerbsException;

  /**
   * Completes the connection setup that the exchange of addresses alone does not cover. Called in
   * INIT by the connecting side, after the exchange and before RTR; the peer's queue pair must have
   * been told to go to RTR. Completes at once if the addresses suffice. Any thread; never blocks;
   * closing the queue pair cancels it.
   *
   * @return the address for RTR, or the reason why the peer cannot be reached
   */
  default CompletableFuture<QueuePairAddress> rendezvous(QueuePairAddress remote, long timeoutMs) {
    return CompletableFuture.completedFuture(remote);
  }

  /**
   * INIT to RTR: from now on requests of {@code remote} are answered. Does not wait for the peer.
   */
  void toRtr(QueuePairAddress remote, ConnectionAttributes attributes) throws VerbsException;

  /** RTR to RTS: from now on the send queue is processed. */
  void toRts() throws VerbsException;

  /** Any state to ERROR: flushes the send queue. */
  void toError() throws VerbsException;

  /** Any state to RESET: drops all queued work requests without completions. */
  void toReset() throws VerbsException;

  /**
   * Posts a chain of work requests (ibv_post_send(3)). Does not wait, and keeps no reference to
   * them.
   *
   * @throws PostException EINVAL in RESET, INIT or RTR or for a request that is too long, ENOMEM if
   *     the send queue is full; names the first request that was not posted
   */
  void postSend(List<SendWorkRequest> chain) throws PostException;

  /**
   * Destroys the queue pair (ibv_destroy_qp(3)) and drops completions that were not polled. After
   * this call the device does not access the queue pair's buffers any more, unless it refused to
   * destroy it ({@link #isDestroyed}). Idempotent.
   */
  @Override
  void close();

  /**
   * True if the device has destroyed the queue pair; asked after {@link #close}. If false, its
   * READs may still write to their buffers.
   */
  default boolean isDestroyed() {
    return true;
  }
}
