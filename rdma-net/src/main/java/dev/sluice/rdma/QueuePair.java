package dev.sluice.rdma;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A reliable-connected queue pair (ibv_create_qp(3), ibv_modify_qp(3)), for RDMA READ alone.
 *
 * <p>Work requests complete in posting order. The first one that fails moves the queue pair to
 * ERROR, and every other, pending or posted later, completes exactly once with WR_FLUSH_ERR. A
 * successful work request completes only if it was signaled; the completion of a signaled one says
 * that all before it are done.
 */
public interface QueuePair extends AutoCloseable {
  /** 24 bits, unique on the device. */
  int qpNumber();

  /** Asks the device, where that can move the queue pair to ERROR by itself. */
  QueuePairState state();

  /**
   * Whether it is known to be in ERROR: without asking the device, which says so by an event where
   * peers can break the queue pair.
   */
  default boolean hasFailed() {
    return state() == QueuePairState.ERROR;
  }

  /** What the peer needs to connect to this queue pair. Valid from INIT on. */
  QueuePairAddress address();

  /**
   * RESET to INIT.
   *
   * @param access REMOTE_READ where the peer may READ through this queue pair; empty for a pure
   *     initiator
   * @throws VerbsException EINVAL in another state
   */
  void toInit(Set<AccessFlag> access) throws VerbsException;

  /**
   * In INIT, on the side that connects, after addresses were exchanged and before RTR: does what
   * else it takes to reach the peer's queue pair, which has to have been told to go to RTR.
   * Completes at once where the addresses are all that it takes. Any thread, never blocks; closing
   * calls it off.
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

  /** Any state to RESET: drops what is queued without completions. */
  void toReset() throws VerbsException;

  /**
   * Posts a chain of work requests (ibv_post_send(3)); does not wait, and keeps none of them.
   *
   * @throws PostException EINVAL in RESET, INIT or RTR or for a request that is too long, ENOMEM
   *     when the send queue is full; names the first request that was not posted
   */
  void postSend(List<SendWorkRequest> chain) throws PostException;

  /**
   * Destroys the queue pair (ibv_destroy_qp(3)): no access to its buffers is under way afterwards,
   * unless the device refuses ({@link #isDestroyed}), and completions that were not polled are
   * dropped. Idempotent.
   */
  @Override
  void close();

  /**
   * After {@link #close}: whether the device has destroyed it. Else its READs may still write to
   * their buffers.
   */
  default boolean isDestroyed() {
    return true;
  }
}
