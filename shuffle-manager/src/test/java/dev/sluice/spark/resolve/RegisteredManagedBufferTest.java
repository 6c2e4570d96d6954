// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.fetch.SoftPeer;
import dev.sluice.spark.transport.MapOutput;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks read own blocks in registered memory. Everything else is read from files. */
class RegisteredManagedBufferTest {
  private static final int SHUFFLE = 3;
  private static final int MAP = 5;

  @TempDir private Path directory;
  private final MapOutput output = new MapOutput(MAP, 100, 2000);
  private SoftPeer executor;
  private Path file;
  private RegisteredManagedBuffer buffer;

  @BeforeEach
  void register() throws Exception {
    executor = SoftPeer.mapping(directory);
    executor.write(output);
    executor.registry().resolve(SHUFFLE, new long[] {MAP}).get(30, TimeUnit.SECONDS);
    file = executor.registry().segment(SHUFFLE, MAP, 1, 2).file();
    buffer =
        new RegisteredManagedBuffer(
            new FileSegmentManagedBuffer(SoftPeer.TRANSPORT_CONF, file.toFile(), 100, 2000),
            () -> executor.registry().open(SHUFFLE, MAP, 1, 2));
  }

  @AfterEach
  void close() {
    executor.close();
  }

  @Test
  void aTaskNeedsNoFile() throws IOException {
    Files.delete(file);

    assertThat(buffer.size()).isEqualTo(2000);
    try (InputStream stream = buffer.createInputStream()) {
      assertThat(stream.readAllBytes()).isEqualTo(output.bytes(1, 2));
    }
  }

  @Test
  void deregisteredBlocksComeFromTheirFile() throws IOException {
    executor.registry().unregister(SHUFFLE);

    try (InputStream stream = buffer.createInputStream()) {
      assertThat(stream.readAllBytes()).isEqualTo(output.bytes(1, 2));
    }
  }

  /** Spark's iterator asserts that only a file's buffer fails to open. */
  @Test
  void blocksNeitherRegisteredNorInTheirFileFailWhenRead() throws IOException {
    executor.registry().unregister(SHUFFLE);
    Files.write(file, new byte[150]);

    try (InputStream stream = buffer.createInputStream()) {
      assertThatThrownBy(stream::read)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is truncated: it has 150 bytes, but a block ends at byte 2100");
    }
  }

  @Test
  void theTransportSendsTheFile() throws IOException {
    assertThat(buffer.convertToNetty()).isInstanceOf(FileRegion.class);
    assertThat(buffer.convertToNettyForSsl()).isNotNull();
    assertThat(buffer.nioByteBuffer().remaining()).isEqualTo(2000);
  }

  @Test
  void aTaskThatFailsHalfWayLeavesNothingOpen() throws IOException {
    buffer.retain();
    buffer.retain();
    InputStream stream = buffer.createInputStream();
    assertThat(stream.readNBytes(10)).hasSize(10);

    buffer.release();
    assertThat(stream.readNBytes(10)).hasSize(10);
    buffer.release();

    assertThatThrownBy(stream::read).isInstanceOf(IOException.class).hasMessageContaining("closed");
  }
}
