// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * An open file that can be registered ({@link ProtectionDomain#registerFile}); {@link
 * dev.sluice.rdma.file.DiskFile} implements it. Any thread. Closed after the last read, by its
 * opener or by its region.
 */
public interface StoredFile extends Closeable {
  /** Number that identifies the file system: equal for all files on it. */
  long disk();

  /**
   * Returns the file's current length.
   *
   * @throws IOException if the file is closed
   */
  long size() throws IOException;

  /**
   * Tells if {@link #read} can tell cached bytes, so that a cached read never waits for the disk.
   */
  boolean tellsCached();

  /**
   * Counts the bytes from a position on that the page cache has, up to the first byte that it
   * lacks.
   *
   * @param bytes the limit
   * @return 0 also if the page cache's content is unknown
   */
  int cachedBytes(long position, int bytes);

  /**
   * Reads some bytes. The calling thread must not be interrupted.
   *
   * @param cached true to read cached bytes only, if {@link #tellsCached}
   * @return number of bytes; 0 if the page cache has none; -1 at the file's end
   */
  int read(long position, ByteBuffer target, boolean cached) throws IOException;

  /** Reads into an array-backed buffer like {@link #read}. Any thread, one at a time. */
  int readArray(long position, ByteBuffer target, boolean cached) throws IOException;

  /** Has the kernel send bytes, like {@link java.nio.channels.FileChannel#transferTo}. */
  long transferTo(long position, long bytes, WritableByteChannel target) throws IOException;
}
