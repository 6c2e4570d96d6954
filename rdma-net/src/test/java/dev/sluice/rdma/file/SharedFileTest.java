// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads of bytes in the page cache, and of bytes that are only on disk. */
class SharedFileTest {
  private static final int BYTES = 300_000;

  @TempDir Path directory;
  private final byte[] bytes = new byte[BYTES];

  private SharedFile open(Path path) throws IOException {
    return SharedFile.open(path, new ReadAhead(() -> 0));
  }

  private Path write() throws IOException {
    new Random(5).nextBytes(bytes);
    return Files.write(directory.resolve("data"), bytes);
  }

  private static ByteBuffer buffer(int length, boolean direct) {
    return direct ? ByteBuffer.allocateDirect(length) : ByteBuffer.allocate(length);
  }

  private void assertHolds(ByteBuffer target, int position) {
    assertThat(target.hasRemaining()).isFalse();
    int end = position + target.capacity();
    assertThat(target.flip()).isEqualTo(ByteBuffer.wrap(Arrays.copyOfRange(bytes, position, end)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void cachedBytesAreReadAtOnce(boolean direct) throws Exception {
    try (SharedFile file = open(write())) {
      for (int length : new int[] {1, 900, 2048, 5000, 200_000}) {
        for (int position : new int[] {0, 10, 7_500, 16_384, 20_000, BYTES - length}) {
          ByteBuffer target = buffer(length, direct);
          assertThat(file.read(position, target, true)).isTrue();
          assertHolds(target, position);
        }
      }
    }
  }

  /** Opens the file while its bytes are only on disk, and verifies that by a cached read. */
  private SharedFile openCold(Path path, ByteBuffer target) throws Exception {
    for (int i = 0; i < 100; i++) {
      PageCache.drop(path);
      SharedFile file = open(path);
      if (!file.read(0, target.clear(), true)) {
        target.clear();
        return file;
      }
      file.close(); // The disk was faster than this test.
    }
    return abort("the disk is always faster");
  }

  @ParameterizedTest
  @ValueSource(ints = {5_000, BYTES})
  void uncachedBytesAreLeftToReadersThatMayWait(int length) throws Exception {
    ByteBuffer target = ByteBuffer.allocateDirect(length);
    try (SharedFile file = openCold(write(), target)) {
      file.read(0, target);
      assertHolds(target, 0);
      assertThat(file.read(0, target.clear(), true)).isTrue();
      assertHolds(target, 0);
    }
  }

  /** Adjacent small pieces, each read twice. */
  @Test
  void uncachedBytesAreReadAhead() throws Exception {
    Path path = write();
    ByteBuffer target = ByteBuffer.allocateDirect(100);
    try (SharedFile file = openCold(path, target)) {
      file.read(0, target);
      Files.write(path, new byte[BYTES]);
      file.read(100, target.clear());
      assertHolds(target, 100);
    }
  }

  /** Like the file systems of some containers, and network file systems. */
  @Test
  void aFileSystemThatCannotTellIsReadAsItsDiskAnswers() throws Exception {
    Path path = Path.of("/proc/version");
    byte[] version = Files.readAllBytes(path);
    try (SharedFile file = open(path)) {
      for (int i = 0; i < 2; i++) {
        ByteBuffer target = ByteBuffer.allocateDirect(version.length);
        assertThat(file.read(0, target, true)).isTrue();
        assertThat(target.flip()).isEqualTo(ByteBuffer.wrap(version));
      }
    }
  }

  @Test
  void readingBehindTheEndIsReported() throws Exception {
    try (SharedFile file = open(write())) {
      for (int length : new int[] {100, 5_000}) {
        ByteBuffer target = ByteBuffer.allocateDirect(length);
        assertThatThrownBy(() -> file.read(BYTES - 1, target, true))
            .isInstanceOf(EOFException.class);
        assertThatThrownBy(() -> file.read(BYTES - 1, new byte[length], 0, length))
            .isInstanceOf(EOFException.class);
      }
    }
  }

  @Test
  void threadsThatAreInterruptedReadIt() throws Exception {
    try (SharedFile file = open(write())) {
      Thread.currentThread().interrupt();
      byte[] target = new byte[BYTES];
      file.read(0, target, 0, BYTES);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(target).isEqualTo(bytes);
    }
  }

  @Test
  void itsDescriptorIsClosedOnce() throws Exception {
    SharedFile file = open(write());
    file.close();
    try (SharedFile other = open(directory.resolve("data"))) {
      file.close();
      other.read(0, new byte[BYTES], 0, BYTES);
    }
    assertThatThrownBy(() -> file.read(0, new byte[10_000], 0, 10_000))
        .isInstanceOf(IOException.class);
  }

  @Test
  void missingFilesAreNamed() {
    assertThatThrownBy(() -> open(directory.resolve("none")))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining("none");
  }
}
