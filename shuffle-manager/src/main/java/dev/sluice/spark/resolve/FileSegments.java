// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import java.io.IOException;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;

/**
 * Checks of blocks in files. {@link SluiceBlockResolver} and its buffers call it, on the threads
 * that read a block. It only asks for the file's length.
 */
final class FileSegments {
  private FileSegments() {}

  /**
   * Checks that the file is long enough for the block. In a truncated file, the streams of some
   * codecs and of Kryo just end, and records would be lost unnoticed.
   *
   * @throws IOException if the file ends before the block does, or is gone
   */
  static void requireWhole(FileSegmentManagedBuffer block) throws IOException {
    long end = block.getOffset() + block.getLength();
    long length = block.getFile().length();
    if (length < end) {
      throw new IOException(
          "%s is truncated: it has %d bytes, but a block ends at byte %d"
              .formatted(block.getFile(), length, end));
    }
  }
}
