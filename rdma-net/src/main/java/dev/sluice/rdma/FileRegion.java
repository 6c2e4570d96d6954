package dev.sluice.rdma;

import java.io.IOException;

/** A registered file ({@link ProtectionDomain#registerFile}), which its own process reads, too. */
public interface FileRegion extends MemoryRegion {
  /**
   * Copies bytes of the file. Any thread, also one that is interrupted.
   *
   * @param position in the file
   * @throws IOException when the region is closed, the file has become shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException;
}
