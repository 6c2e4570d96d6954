// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * Ways to damage a file, in place and for good, while executors and peers may have it open. {@link
 * FilesDamaged} calls them on the driver's main thread. No state.
 */
final class FileDamage {
  private FileDamage() {}

  static void delete(Path file, Random random) throws IOException {
    Files.deleteIfExists(file);
  }

  static void truncate(Path file, Random random) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(channel.size() / 2);
    }
  }

  static void flipByte(Path file, Random random) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() == 0) {
        return;
      }
      long position = random.nextLong(channel.size());
      ByteBuffer flipped = ByteBuffer.allocate(1);
      channel.read(flipped, position);
      flipped.put(0, (byte) (flipped.get(0) ^ 0x20)).rewind();
      channel.write(flipped, position);
    }
  }

  /** Replaces one offset of an index by an offset that no file reaches. */
  static void falsifyOffset(Path file, Random random) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      int offsets = (int) (channel.size() / Long.BYTES);
      ByteBuffer wrong = ByteBuffer.allocate(Long.BYTES).putLong(0, Long.MAX_VALUE / 2);
      channel.write(wrong, (long) random.nextInt(offsets) * Long.BYTES);
    }
  }
}
