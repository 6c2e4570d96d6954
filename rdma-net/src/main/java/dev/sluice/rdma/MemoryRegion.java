package dev.sluice.rdma;

/**
 * Registered memory (ibv_reg_mr(3)).
 *
 * <p>The caller owns the memory and keeps it alive until {@link #close} has returned: the arena may
 * be closed only then. After {@code close} no access to the memory by the device is under way or
 * will begin; a READ that comes later completes with REM_ACCESS_ERR at its initiator.
 */
public interface MemoryRegion extends AutoCloseable {
  long address();

  /** Bytes; may exceed 2 GiB. */
  long length();

  /** Key for scatter/gather entries of this protection domain. */
  int lkey();

  /**
   * Key for peers. Some devices give a region one number for both keys; the software provider never
   * does, so that whoever confuses them is found out.
   */
  int rkey();

  default RemoteRegion toRemote() {
    return new RemoteRegion(address(), length(), rkey());
  }

  /** Deregisters (ibv_dereg_mr(3)). Idempotent. */
  @Override
  void close();
}
