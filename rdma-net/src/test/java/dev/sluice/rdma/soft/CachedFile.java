// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.file.DiskFile;
import java.io.RandomAccessFile;

/** A file that a test may change, with all its bytes in the page cache. */
final class CachedFile extends DiskFile {
  private final long toldBytes;

  CachedFile(RandomAccessFile file) {
    this(file, Long.MAX_VALUE);
  }

  /**
   * A file for which the kernel reports cached pages up to some byte. Only a read finds the others.
   */
  CachedFile(RandomAccessFile file, long toldBytes) {
    super(file);
    this.toldBytes = toldBytes;
  }

  @Override
  public boolean tellsCached() {
    return true;
  }

  @Override
  public int cachedBytes(long position, int bytes) {
    return (int) Math.clamp(toldBytes - position, 0L, bytes);
  }
}
