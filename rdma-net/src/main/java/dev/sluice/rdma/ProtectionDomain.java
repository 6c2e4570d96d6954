package dev.sluice.rdma;

import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Groups memory regions and queue pairs that may be used together (ibv_alloc_pd(3)): a peer's key
 * works only through a queue pair of the region's own domain.
 */
public interface ProtectionDomain extends AutoCloseable {
  Device device();

  /**
   * Registers native memory (ibv_reg_mr(3)). Memory of a read-only segment may only be registered
   * without LOCAL_WRITE, and memory of a confined arena not at all, since the device is not the
   * thread that owns it.
   *
   * @throws VerbsException EINVAL for flags or memory that cannot be registered, EFAULT for mapped
   *     memory whose pages the kernel does not give to a device (before 6.2: of a read-only mapping
   *     of a file), EOPNOTSUPP for ON_DEMAND where the device cannot do it (older drivers: EINVAL),
   *     ENOMEM at a limit
   */
  MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException;

  /**
   * Whether {@link #registerFile} works: the device sends files itself, of which nothing is pinned
   * nor mapped.
   */
  default boolean registersFiles() {
    return false;
  }

  /**
   * Registers a file's first bytes for peers to READ, and for nothing else. The region has
   * addresses of its own. When it is closed the file is too, as soon as whoever is in the middle of
   * reading it is done. A READ of what the file has lost since, or what its disk does not give,
   * fails at its initiator.
   *
   * @param file open for reading; stays the caller's where this fails
   * @param bytes no more than the file has
   * @throws VerbsException EOPNOTSUPP where the device sends no files, EINVAL for no bytes or more
   *     than there are, EIO when the file cannot be asked, ENOMEM at a limit
   */
  default FileRegion registerFile(RandomAccessFile file, long bytes) throws VerbsException {
    throw new VerbsException(
        "register a file of " + bytes + " bytes",
        VerbsException.EOPNOTSUPP,
        "the device sends no files");
  }

  /**
   * Creates a reliable-connected (RC) queue pair in RESET (ibv_create_qp(3)).
   *
   * @param completions takes what completes on it
   * @param depth work requests that its send queue must hold at least
   * @throws VerbsException EINVAL for a depth beyond the device's, ENOMEM at a limit
   */
  QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException;

  @Override
  void close();
}
