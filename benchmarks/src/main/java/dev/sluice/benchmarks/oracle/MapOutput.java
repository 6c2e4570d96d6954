package dev.sluice.benchmarks.oracle;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;

/**
 * The data file of a map task, mapped, with the offsets of its partitions in memory. Any thread;
 * the mapping goes with the garbage collection.
 */
final class MapOutput {
  private final ByteBuffer data;
  private final LongBuffer offsets;

  private MapOutput(ByteBuffer data, LongBuffer offsets) {
    this.data = data;
    this.offsets = offsets;
  }

  /**
   * Of the two files that Spark's writers leave.
   *
   * @throws IOException also where the index names bytes that the data file does not have
   */
  static MapOutput open(Path dataFile, Path indexFile) throws IOException {
    LongBuffer offsets = ByteBuffer.wrap(Files.readAllBytes(indexFile)).asLongBuffer();
    try (FileChannel channel = FileChannel.open(dataFile, StandardOpenOption.READ)) {
      long length = offsets.get(offsets.limit() - 1);
      if (channel.size() != length) {
        throw new IOException(
            "%s has %d bytes, its index says %d".formatted(dataFile, channel.size(), length));
      }
      return new MapOutput(channel.map(MapMode.READ_ONLY, 0, length), offsets);
    }
  }

  /** Partitions {@code start} to {@code end - 1}: the mapped bytes themselves. */
  ManagedBuffer block(int start, int end) {
    int from = Math.toIntExact(offsets.get(start));
    int to = Math.toIntExact(offsets.get(end));
    return new NioManagedBuffer(data.slice(from, to - from));
  }
}
