// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A task streams its own map outputs exactly as their files have them, or gets an error. */
class RegisteredInputStreamTest extends RegisteredOutputFixture {
  private RegisteredInputStream open(int startPartition, int endPartition) {
    return registry.open(SHUFFLE, MAP, startPartition, endPartition);
  }

  private byte[] written(int from, int to) {
    return Arrays.copyOfRange(data, from, to);
  }

  @Test
  void partitionsAreOneStream() throws IOException {
    try (InputStream stream = open(0, 4)) {
      assertThat(stream.available()).isEqualTo(4200);
      byte[] target = new byte[5000];
      assertThat(stream.read(target, 3, 4300)).isEqualTo(4200);
      assertThat(Arrays.copyOfRange(target, 3, 4203)).isEqualTo(data);
      assertThat(stream.available()).isZero();
      assertThat(stream.read()).isEqualTo(-1);
      assertThat(stream.read(target)).isEqualTo(-1);
    }
  }

  @Test
  void pieceAfterPieceIsTheSame() throws IOException {
    try (InputStream stream = open(0, 3)) {
      assertThat(stream.read()).isEqualTo(Byte.toUnsignedInt(data[0]));
      assertThat(stream.read(new byte[10], 5, 0)).isZero();
      assertThat(stream.readNBytes(149)).isEqualTo(written(1, 150));
      assertThat(stream.skip(1000)).isEqualTo(1000);
      assertThat(stream.readAllBytes()).isEqualTo(written(1150, 4191));
    }
  }

  @Test
  void blocksThatCannotBeStreamedAreReadFromTheFile() {
    assertThat(open(1, 2)).as("empty").isNull();
    assertThat(open(4, 5)).as("no such partition").isNull();
    assertThat(open(-1, 1)).as("no such partition").isNull();
    assertThat(registry.open(SHUFFLE, MAP + 1, 0, 1)).isNull();
    assertThat(registry.open(SHUFFLE + 1, MAP, 0, 1)).isNull();
    registry.invalidate(SHUFFLE, MAP);
    assertThat(open(0, 1)).as("not registered").isNull();
  }

  @Test
  void withoutChecksumsItIsTheSame() throws Exception {
    registry.invalidate(SHUFFLE, MAP);
    Files.delete(outputs.checksums(SHUFFLE, MAP));
    assertThat(resolve(SHUFFLE)).isNotNull();
    try (InputStream stream = open(0, 4)) {
      assertThat(stream.readAllBytes()).isEqualTo(data);
    }
  }

  /** As from the file: Spark's diagnosis reads the rest of a block that it could not decode. */
  @Test
  void falsifiedBytesAreReturned() throws Exception {
    falsify(150);
    data[150] = (byte) ~data[150];
    try (InputStream stream = open(0, 4)) {
      assertThat(stream.readAllBytes()).isEqualTo(data);
    }
  }

  @Test
  void theLastByteOfATruncatedFileIsNotReturned() throws Exception {
    try (InputStream stream = open(0, 4);
        InputStream whole = open(0, 1)) {
      try (FileChannel file =
          FileChannel.open(outputs.data(SHUFFLE, MAP), StandardOpenOption.WRITE)) {
        file.truncate(4199);
      }
      assertThat(whole.readAllBytes()).isEqualTo(written(0, 100));
      assertThat(stream.readNBytes(4199)).isEqualTo(written(0, 4199));
      assertThatThrownBy(stream::read)
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("map output 7", "truncated");
    }
  }

  @Test
  void anOpenStreamOutlivesItsMapOutput() throws Exception {
    try (InputStream stream = open(0, 4)) {
      assertThat(stream.readNBytes(50)).isEqualTo(written(0, 50));

      registry.unregister(SHUFFLE);
      outputs.delete(SHUFFLE, MAP);

      assertThat(domain.openRegions()).isZero();
      assertThat(outputs.mappings()).isPositive();
      assertThat(stream.readAllBytes()).isEqualTo(written(50, 4200));
      assertThat(outputs.mappings()).as("at the end of the stream").isZero();
    }
  }

  @Test
  void closingAStreamEarlyUnmapsToo() throws Exception {
    InputStream stream = open(0, 4);
    registry.unregister(SHUFFLE);
    stream.close();
    stream.close();

    assertThat(outputs.mappings()).isZero();
    assertThatThrownBy(stream::read).isInstanceOf(IOException.class).hasMessageContaining("closed");
  }

  @Test
  void aShuffleThatIsStreamedIsNotIdle() throws Exception {
    registry.close();
    AtomicLong nowMs = new AtomicLong();
    registry = registry(128 << 10, nowMs::get);
    assertThat(resolve(SHUFFLE)).isNotNull();
    outputs.write(SHUFFLE + 1, MAP, 90 << 10);

    nowMs.set(2 * IDLE_MS);
    open(0, 4).close();
    assertThat(resolve(SHUFFLE + 1).isStaged())
        .as("no room while the other shuffle is in use")
        .isTrue();
    registry.invalidate(SHUFFLE + 1, MAP);
    nowMs.set(4 * IDLE_MS);
    assertThat(resolve(SHUFFLE + 1).isStaged()).as("room is being made").isTrue();
    registry.invalidate(SHUFFLE + 1, MAP);
    nowMs.addAndGet(Registrar.GRACE_MS);
    assertThat(resolve(SHUFFLE + 1).isStaged()).as("registered after the eviction").isFalse();
    assertThat(open(0, 4)).isNull();
  }
}
