// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskFileTest {
  private static final int BYTES = 300_000;

  @TempDir Path directory;

  private Path write(String name, int value) throws IOException {
    byte[] bytes = new byte[BYTES];
    Arrays.fill(bytes, (byte) value);
    return Files.write(directory.resolve(name), bytes);
  }

  @Test
  void reportsCachedPages() throws Exception {
    Path path = write("data", 1);
    PageCache.assumeDroppable(path);
    try (DiskFile file = DiskFile.open(path)) {
      assumeTrue(file.tellsCached());
      for (int position : new int[] {0, 1, 4_095, 100_000}) {
        assertThat(file.cachedBytes(position, BYTES - position)).isEqualTo(BYTES - position);
        assertThat(file.cachedBytes(position, 1)).isEqualTo(1);
      }
      assertThat(file.cachedBytes(0, 2 * BYTES)).as("pages behind the end").isLessThan(2 * BYTES);
      PageCache.drop(path);
      assertThat(file.cachedBytes(0, BYTES)).isZero();
      ByteBuffer target = ByteBuffer.allocateDirect(BYTES);
      while (target.hasRemaining()) {
        assertThat(file.read(target.position(), target, false)).isPositive();
      }
      assertThat(file.cachedBytes(0, BYTES)).isEqualTo(BYTES);
    }
  }

  @Test
  void filesInMemoryWaitForNoDisk() throws Exception {
    Path memory = Path.of("/dev/shm");
    assumeTrue(Files.isWritable(memory) && Files.getFileStore(memory).type().equals("tmpfs"));
    Path path = Files.createTempFile(memory, "sluice", ".test");
    try {
      Files.write(path, new byte[BYTES]);
      try (DiskFile file = DiskFile.open(path)) {
        assertThat(file.tellsCached()).isTrue();
        assertThat(file.cachedBytes(0, BYTES)).isEqualTo(BYTES);
        assertThat(file.read(0, ByteBuffer.allocateDirect(BYTES), true)).isEqualTo(BYTES);
      }
    } finally {
      Files.delete(path);
    }
  }

  /** Overlayfs reports nothing to a read, as in a container whose directory is not a volume. */
  @Test
  void tellsCachedPagesOfOverlayFileSystems() throws Exception {
    Path path = write("data", 1);
    assumeTrue(Files.getFileStore(path).type().equals("overlay"));
    try (DiskFile file = DiskFile.open(path)) {
      assertThat(file.cachedBytes(0, BYTES)).isEqualTo(BYTES);
      assertThat(file.cachedBytes(100, 1_000)).isEqualTo(1_000);
    }
  }

  /** A map task that runs again replaces its file by another file of the same name. */
  @Test
  void bothWaysOfReadingAreOfTheSameFile() throws Exception {
    Path path = write("data", 1);
    try (DiskFile file = DiskFile.open(path)) {
      Files.move(write("other", 2), path, StandardCopyOption.REPLACE_EXISTING);
      ByteBuffer read = ByteBuffer.allocate(1);
      file.read(0, read, false);
      assertThat(read.get(0)).isEqualTo((byte) 1);
      Path copy = directory.resolve("copy");
      try (SeekableByteChannel out =
          Files.newByteChannel(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        file.transferTo(0, BYTES, out);
      }
      assertThat(Files.readAllBytes(copy)).containsOnly(1);
    }
  }

  @Test
  void filesOfOneFileSystemAreOnOneDisk() throws Exception {
    try (DiskFile first = DiskFile.open(write("first", 1));
        DiskFile second = DiskFile.open(write("second", 2))) {
      assertThat(first.disk()).isEqualTo(second.disk());
    }
  }

  @Test
  void missingFilesAndDirectoriesAreRefused() {
    assertThatThrownBy(() -> DiskFile.open(directory.resolve("none")))
        .isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> DiskFile.open(directory)).isInstanceOf(IOException.class);
  }

  @Test
  void aClosedFileIsNotRead() throws Exception {
    DiskFile file = DiskFile.open(write("data", 1));
    file.close();
    file.close();
    assertThat(file.cachedBytes(0, 1)).isZero();
    assertThatThrownBy(() -> file.read(0, ByteBuffer.allocate(1), false))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(file::size).isInstanceOf(IOException.class);
  }
}
