// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Groups memory regions and queue pairs that may be used together (ibv_alloc_pd(3)). A peer's key
 * works only through a queue pair of the same domain as the region. Any thread. Its creator closes
 * it, which closes its remaining regions and queue pairs.
 */
public interface ProtectionDomain extends AutoCloseable {
  Device device();

  /**
   * Registers native memory (ibv_reg_mr(3)). Memory of a read-only segment can only be registered
   * without LOCAL_WRITE. Memory of a confined arena cannot be registered, since the device is not
   * the thread that owns it.
   *
   * @throws VerbsException EINVAL for flags or memory that cannot be registered; EFAULT for mapped
   *     memory whose pages the kernel does not give to a device (before 6.2: of a read-only mapping
   *     of a file); EOPNOTSUPP for ON_DEMAND if the device does not support it (older drivers:
   *     EINVAL); ENOMEM at a limit
   */
  MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException;

  /**
   * True if {@link #registerFile} works: the device sends files itself, and nothing is pinned or
   * mapped.
   */
  default boolean registersFiles() {
    return false;
  }

  /**
   * Registers the first bytes of a file for peers to READ, and for no other access. The region has
   * addresses of its own. Closing the region closes the file, after the reads in progress. A READ
   * of bytes that the file has lost since, or that its disk does not return, fails at its
   * initiator.
   *
   * @param file remains the caller's if this call fails
   * @param bytes at most the length of the file
   * @throws VerbsException EOPNOTSUPP if the device does not send files, EINVAL for 0 bytes or more
   *     than the file has, EIO if the file's length cannot be read, ENOMEM at a limit
   */
  default FileRegion registerFile(StoredFile file, long bytes) throws VerbsException {
    throw new VerbsException(
        "register a file of " + bytes + " bytes",
        VerbsException.EOPNOTSUPP,
        "the device cannot register files");
  }

  /**
   * Creates a reliable-connected (RC) queue pair in RESET (ibv_create_qp(3)).
   *
   * @param completions takes the completions of the queue pair
   * @param depth minimum number of work requests that its send queue must hold
   * @throws VerbsException EINVAL for a depth beyond the device's limit, ENOMEM at a limit
   */
  QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException;

  @Override
  void close();
}
