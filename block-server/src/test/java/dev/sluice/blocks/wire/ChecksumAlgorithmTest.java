// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Values equal those of the JDK's classes, which Spark's writers use, for calls of any size. */
class ChecksumAlgorithmTest {
  private static final int[] SIZES = {0, 1, 17, 16_383, 16_384, 16_385, 100_000};

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void bytesOfAnArray(ChecksumAlgorithm algorithm) {
    for (int size : SIZES) {
      byte[] bytes = random(size + 20);
      Checksum checksum = algorithm.newChecksum();
      checksum.update(bytes, 7, size);
      assertThat(checksum.getValue()).as("%d bytes", size).isEqualTo(jdk(algorithm, bytes, size));
    }
  }

  /** The memory of regions and of buffers for READs is of shared arenas. */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void bytesOfASharedArena(ChecksumAlgorithm algorithm) {
    try (Arena arena = Arena.ofShared()) {
      for (int size : SIZES) {
        byte[] bytes = random(size + 20);
        ByteBuffer buffer = arena.allocate(bytes.length).asByteBuffer().put(bytes);
        for (Checksum checksum : both(algorithm)) {
          buffer.limit(7 + size).position(7);
          checksum.update(buffer);
          assertThat(checksum.getValue())
              .as("%d bytes", size)
              .isEqualTo(jdk(algorithm, bytes, size));
          assertThat(buffer.position()).isEqualTo(7 + size);
          assertThat(buffer.limit()).isEqualTo(7 + size);
        }
      }
    }
  }

  /** Returns the algorithm as it is on this JVM, and as before JDK 25. */
  private static List<Checksum> both(ChecksumAlgorithm algorithm) {
    return List.of(algorithm.newChecksum(), new PiecewiseChecksum(algorithm.newChecksum(), true));
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void oneAfterTheOtherAndOnceMore(ChecksumAlgorithm algorithm) {
    byte[] bytes = random(40_000);
    Checksum checksum = algorithm.newChecksum();
    checksum.update(1);
    checksum.reset();
    checksum.update(bytes[7]);
    checksum.update(bytes, 8, 16_384);
    checksum.update(ByteBuffer.wrap(bytes, 8 + 16_384, 1000));
    assertThat(checksum.getValue()).isEqualTo(jdk(algorithm, bytes, 1 + 16_384 + 1000));
  }

  private static byte[] random(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  private static long jdk(ChecksumAlgorithm algorithm, byte[] bytes, int size) {
    Checksum checksum =
        switch (algorithm) {
          case ADLER32 -> new Adler32();
          case CRC32 -> new CRC32();
          case CRC32C -> new CRC32C();
          case NONE -> throw new IllegalArgumentException("NONE");
        };
    checksum.update(bytes, 7, size);
    return checksum.getValue();
  }
}
