// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.RegionLimit.OpenFileLimit;
import dev.sluice.blocks.registry.MapOutput;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OpenFilesTest {
  private static final int SHUFFLE = 3;
  private static final long MAP = 7;
  private static final long[] MAPS = {MAP, 8, 9, 10};

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final OpenFileLimit room = new OpenFileLimit(2);
  private final OpenFiles files = new OpenFiles(() -> 0, room);
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    for (long mapId : MAPS) {
      outputs.write(SHUFFLE, mapId, 100);
    }
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(0, 100, 1_000),
            new RecordingListener(),
            () -> 0);
    registry.resolve(SHUFFLE, MAPS).get(10, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    files.close();
    registry.close();
  }

  private void read() {
    read(files, MAP);
  }

  private void read(OpenFiles from, long mapId) {
    try {
      MapOutput output = registry.output(SHUFFLE, mapId);
      from.read(output.data(), output.file(), FileGuard.NONE, 0, ByteBuffer.allocate(100), false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aFileThatIsBeingReadWhenAllAreClosedIsClosedByItsReader() throws Exception {
    try (SlowFile file = SlowFile.inPlaceOf(outputs.data(SHUFFLE, MAP))) {
      CompletableFuture<Void> reader = CompletableFuture.runAsync(this::read);
      SlowFile.awaitReaders(1);
      files.close();
      file.answer();

      assertThatThrownBy(() -> reader.get(10, TimeUnit.SECONDS))
          .as("a pipe has no positions")
          .hasStackTraceContaining("seek");
    }
    assertThat(outputs.openFiles()).isZero();
  }

  @Test
  void recentlyReadFilesStayOpenWhileThereIsRoom() throws Exception {
    for (long mapId : MAPS) {
      read(files, mapId);
    }
    assertThat(outputs.openFiles()).isEqualTo(2);
  }

  @Test
  void allOfAProcessHaveRoomTogether() throws Exception {
    try (OpenFiles others = new OpenFiles(() -> 0, room)) {
      for (long mapId : MAPS) {
        read(files, mapId);
        read(others, mapId);
      }
      assertThat(outputs.openFiles()).isEqualTo(2);
      files.close();
      for (long mapId : MAPS) {
        read(others, mapId);
      }
      assertThat(outputs.openFiles()).isEqualTo(2);
    }
    assertThat(outputs.openFiles()).isZero();
  }
}
