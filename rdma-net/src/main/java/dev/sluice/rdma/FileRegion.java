// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.io.IOException;

/** A registered file ({@link ProtectionDomain#registerFile}). Its own process can read it, too. */
public interface FileRegion extends MemoryRegion {
  /**
   * Copies bytes of the file. Any thread, even an interrupted one.
   *
   * @param position offset in the file
   * @throws IOException if the region is closed, the file has become shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException;
}
