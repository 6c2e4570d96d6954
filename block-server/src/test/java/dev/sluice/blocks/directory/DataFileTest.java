// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Registering a file leaves it unchanged, in every form of registration. */
@ParameterizedClass
@EnumSource
class DataFileTest {
  private static final int BYTES = 50_000;

  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final byte[] bytes = new byte[BYTES];
  private Path path;

  @BeforeEach
  void write() throws IOException {
    new Random(1).nextBytes(bytes);
    path = Files.write(directory.resolve("data"), bytes);
  }

  private MapOutputData register(Arena arena) throws IOException {
    try (DataFile file = DataFile.open(path, BYTES, form)) {
      return register(file, arena);
    }
  }

  private MapOutputData register(DataFile file, Arena arena) throws IOException {
    return file.isMapping() ? file.register(domain, file.map(arena)) : file.register(domain);
  }

  private void truncate(int length) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @Test
  void theFileIsReadAndNotChanged() throws Exception {
    FileTime modified = FileTime.fromMillis(1_000_000);
    Files.setLastModifiedTime(path, modified);
    try (Arena arena = Arena.ofShared();
        MapOutputData data = register(arena)) {
      assertThat(domain.read(data.remote())).isEqualTo(bytes);
    }
    assertThat(path).hasBinaryContent(bytes);
    assertThat(Files.getLastModifiedTime(path)).isEqualTo(modified);
  }

  @Test
  void aMissingFileIsNotCreated() {
    Path missing = directory.resolve("missing");

    assertThatThrownBy(() -> DataFile.open(missing, BYTES, form))
        .isInstanceOf(NoSuchFileException.class);
    assertThat(missing).doesNotExist();
  }

  @Test
  void aShortFileIsNotMadeLonger() throws Exception {
    truncate(BYTES - 1);

    assertThatThrownBy(() -> DataFile.open(path, BYTES, form))
        .isInstanceOf(InconsistentFilesException.class);
    assertThat(path).hasSize(BYTES - 1);
  }

  @Test
  void aFileThatBecameShorterIsNotMadeLongerAgain() throws Exception {
    try (Arena arena = Arena.ofShared();
        DataFile file = DataFile.open(path, BYTES, form)) {
      truncate(0);
      assertThatThrownBy(() -> register(file, arena))
          .isInstanceOf(InconsistentFilesException.class);
    }
    assertThat(path).hasSize(0);
    assertThat(domain.openRegions()).isZero();
  }
}
