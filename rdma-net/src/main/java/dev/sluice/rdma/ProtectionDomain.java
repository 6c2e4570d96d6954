package dev.sluice.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Groups memory regions and queue pairs that may be used together (ibv_alloc_pd(3)): a peer's key
 * works only through a queue pair of the region's own domain.
 */
public interface ProtectionDomain extends AutoCloseable {
  Device device();

  /**
   * Registers native memory. REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE (ibv_reg_mr(3));
   * memory of a read-only segment may only be registered without any of the three. Memory of a
   * confined arena cannot be registered, since the device is not the thread that owns it.
   *
   * @throws VerbsException EINVAL for flags or memory that cannot be registered, EFAULT for mapped
   *     memory whose pages the kernel does not give to a device (before 6.2: of a read-only mapping
   *     of a file), EOPNOTSUPP for ON_DEMAND where the device cannot do it (older drivers: EINVAL),
   *     ENOMEM at a limit
   */
  MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException;

  /**
   * Creates a reliable-connected (RC) queue pair in RESET (ibv_create_qp(3)).
   *
   * @param sendQueue takes completions of the send queue
   * @param receiveQueue takes completions of the receive queue; may be the same
   * @throws VerbsException EINVAL for capabilities beyond the device's, ENOMEM at a limit
   */
  QueuePair createQueuePair(
      CompletionQueue sendQueue, CompletionQueue receiveQueue, QueuePairCapabilities capabilities)
      throws VerbsException;

  @Override
  void close();
}
