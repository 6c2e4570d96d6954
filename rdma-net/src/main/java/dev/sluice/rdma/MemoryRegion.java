// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Registered memory (ibv_reg_mr(3)). Any thread; its creator closes it.
 *
 * <p>The caller owns the memory and keeps it alive until {@link #close} has returned: only then may
 * it close the arena. After {@code close} the device no longer accesses the memory. A later READ
 * completes with REM_ACCESS_ERR at its initiator.
 */
public interface MemoryRegion extends AutoCloseable {
  long address();

  /** Bytes; may exceed 2 GiB. */
  long length();

  /** Key for scatter/gather entries of this protection domain. */
  int lkey();

  /**
   * Key for peers. Some devices use the same number as lkey and rkey. The software provider never
   * does, so that tests detect code that confuses them.
   */
  int rkey();

  default RemoteRegion toRemote() {
    return new RemoteRegion(address(), length(), rkey());
  }

  /** Deregisters (ibv_dereg_mr(3)). Idempotent. */
  @Override
  void close();
}
