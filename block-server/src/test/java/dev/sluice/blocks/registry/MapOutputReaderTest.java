// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process reads its own map outputs as they were written, or not at all. */
class MapOutputReaderTest extends RegisteredOutputFixture {
  private MapOutputReader reader;

  @BeforeEach
  void openReader() {
    reader = registry.reader(SHUFFLE);
  }

  @Test
  void partitionsAreCopiedOneBehindTheOther() {
    byte[] target = new byte[5000];
    assertThat(reader.copy(MAP, 3, 4, target, 0)).isEqualTo(9);
    assertThat(reader.copy(MAP, 0, 3, target, 9)).isEqualTo(4191);
    assertThat(Arrays.copyOf(target, 9)).isEqualTo(Arrays.copyOfRange(data, 4191, 4200));
    assertThat(Arrays.copyOfRange(target, 9, 4200)).isEqualTo(Arrays.copyOf(data, 4191));
  }

  @Test
  void anEmptyPartitionHasNoBytes() {
    assertThat(reader.copy(MAP, 1, 2, new byte[1], 0)).isZero();
  }

  @Test
  void noRoomIsToldFromUnreadable() {
    byte[] target = new byte[100];
    assertThat(reader.copy(MAP, 0, 1, target, 1)).isEqualTo(MapOutputReader.NO_ROOM);
    assertThat(reader.copy(MAP, 2, 3, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
  }

  @Test
  void missingPartitionsAndMapOutputsAreUnreadable() {
    byte[] target = new byte[100];
    assertThat(reader.copy(MAP, 4, 5, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(reader.copy(MAP, -1, 1, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(reader.copy(MAP + 1, 0, 1, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(registry.reader(SHUFFLE + 1)).isNull();
  }

  @Test
  void unregisteredMapOutputsAreUnreadable() {
    registry.unregister(SHUFFLE);
    assertThat(reader.copy(MAP, 0, 1, new byte[100], 0)).isEqualTo(MapOutputReader.UNREADABLE);
  }

  @Test
  void falsifiedBytesAreUnreadableAndTheirNeighboursAreNot() throws Exception {
    falsify(50);
    byte[] target = new byte[5000];
    assertThat(reader.copy(MAP, 0, 1, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(reader.copy(MAP, 0, 4, target, 0)).isEqualTo(MapOutputReader.UNREADABLE);
    assertThat(reader.copy(MAP, 2, 3, target, 0)).isEqualTo(4091);
  }

  @Test
  void withoutChecksumsNothingIsReadable() throws Exception {
    registry.invalidate(SHUFFLE, MAP);
    Files.delete(outputs.checksums(SHUFFLE, MAP));
    assertThat(resolve(SHUFFLE)).isNotNull();

    assertThat(registry.reader(SHUFFLE).copy(MAP, 0, 1, new byte[100], 0))
        .isEqualTo(MapOutputReader.UNREADABLE);
  }

  /** Runs in a JVM of its own: if that JVM crashes, this test fails and the build continues. */
  @Test
  void aFileTruncatedUnderItsMappingIsHarmless() throws Exception {
    Path log = directory.resolve("log");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=" + directory.resolve("hs_err"),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                TruncatedMapping.class.getName(),
                Files.createDirectory(directory.resolve("truncated")).toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .directory(new File("."))
            .start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(Files.readString(log)).isZero();
  }
}
