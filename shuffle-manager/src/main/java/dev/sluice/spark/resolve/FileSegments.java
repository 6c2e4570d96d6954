package dev.sluice.spark.resolve;

import java.io.IOException;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;

/** Blocks in files. */
final class FileSegments {
  private FileSegments() {}

  /**
   * Looks whether the file is as long as the block wants it: where it was cut off, the streams of
   * some codecs and of Kryo just end, and records are lost without anybody noticing.
   *
   * @throws IOException where the file ends before the block does, or is gone
   */
  static void requireWhole(FileSegmentManagedBuffer block) throws IOException {
    long end = block.getOffset() + block.getLength();
    long length = block.getFile().length();
    if (length < end) {
      throw new IOException(
          "%s has %d bytes, and a block ends at %d".formatted(block.getFile(), length, end));
    }
  }
}
