// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that an executor puts into an inbox, and what the daemon takes of them. */
class InboxTest {
  private static final int SHUFFLE = 5;

  @TempDir private Path directory;
  private TestMapOutputs outputs;
  private Inbox inbox;
  private ApplicationFolder folder;
  private int self;

  @BeforeEach
  void makeFolders() throws Exception {
    outputs = new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    inbox = new Inbox(Files.createDirectory(directory.resolve("inbox")));
    folder = new ApplicationFolder(Files.createDirectory(directory.resolve("application")));
    self = NodeSocket.uid(NodeSocket.self());
  }

  @Test
  void aMapOutputIsMovedAsItWasPutThere() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 10, 1_000, 20);
    assertThat(inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10))).isTrue();
    assertThat(folder.find(SHUFFLE, 10)).isNull();

    assertThat(folder.take(inbox, SHUFFLE, 10, self)).isTrue();
    assertThat(inbox.path()).isEmptyDirectory();
    outputs.delete(SHUFFLE, 10);
    MapOutputFiles.Files found = folder.find(SHUFFLE, 10);
    assertThat(found.data()).hasBinaryContent(data);
    assertThat(found.index()).hasSize(3 * Long.BYTES);
    assertThat(found.checksums()).hasSize(2 * Long.BYTES);
  }

  /** The first answer may have been lost. */
  @Test
  void aMapOutputThatIsPutThereAgainIsTheSame() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    assertThat(folder.take(inbox, SHUFFLE, 10, self)).isTrue();
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    assertThat(folder.take(inbox, SHUFFLE, 10, self)).isFalse();
    assertThat(inbox.path()).isEmptyDirectory();
  }

  @Test
  void anExecutorTakesItsFilesBack() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    inbox.remove(SHUFFLE, 10);
    assertThat(inbox.path()).isEmptyDirectory();
    assertThatThrownBy(() -> folder.take(inbox, SHUFFLE, 10, self)).isInstanceOf(IOException.class);
    assertThat(folder.path()).isEmptyDirectory();
  }

  @Test
  void aFileOfAnotherUserIsRefused() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    assertThatThrownBy(() -> folder.take(inbox, SHUFFLE, 10, self + 1))
        .hasMessageContaining("belongs to uid %d and not to uid %d".formatted(self, self + 1));
    assertThat(folder.path()).isEmptyDirectory();
    assertThat(outputs.data(SHUFFLE, 10)).exists();
  }

  @Test
  void aLinkLeadsNowhere() throws Exception {
    assertRefused(
        ApplicationFolder.DATA,
        data -> Files.createSymbolicLink(data, outputs.data(SHUFFLE, 10)),
        "is not a regular file");
    assertThat(outputs.data(SHUFFLE, 10)).exists();
  }

  /** Its owner could lead the deletion of its content elsewhere. */
  @Test
  void aFolderStaysWhereItIs() throws Exception {
    assertRefused(
        ApplicationFolder.INDEX,
        index -> {
          Files.createDirectory(index);
          Files.setPosixFilePermissions(index, PosixFilePermissions.fromString("rwxrwxrwx"));
          Files.createFile(index.resolve("file"));
        },
        "Not a directory");
    assertThat(inbox.file(SHUFFLE, 10, ApplicationFolder.INDEX).resolve("file")).exists();
  }

  @Test
  void aUsersUidIsThatOfItsFiles() throws Exception {
    assertThat(Files.getAttribute(folder.path(), "unix:uid")).isEqualTo(self);
  }

  /** Opening it to read would wait for a process that writes to it. */
  @Test
  @Timeout(60)
  void aPipeIsRefused() throws Exception {
    assertRefused(
        ApplicationFolder.INDEX,
        index ->
            assertThat(new ProcessBuilder("mkfifo", index.toString()).start().waitFor()).isZero(),
        "is not a regular file");
  }

  /** Makes something else in the place of a file. */
  private interface Maker {
    void make(Path path) throws Exception;
  }

  /** Asserts that a map output is not taken if one of its files in the inbox is something else. */
  private void assertRefused(String file, Maker other, String reason) throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    Path path = inbox.file(SHUFFLE, 10, file);
    Files.delete(path);
    other.make(path);
    assertThatThrownBy(() -> folder.take(inbox, SHUFFLE, 10, self)).hasMessageContaining(reason);
    assertThat(folder.path()).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {ApplicationFolder.INDEX, ApplicationFolder.CHECKSUMS + "CRC32C"})
  void aSparseFileThatIsTooLargeIsRefused(String file) throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    try (RandomAccessFile sparse =
        new RandomAccessFile(inbox.file(SHUFFLE, 10, file).toFile(), "rw")) {
      sparse.setLength((8 << 20) + Long.BYTES);
      assertThatThrownBy(() -> folder.take(inbox, SHUFFLE, 10, self))
          .hasMessageContaining(
              "has more than 8388608 bytes, which are those of 1048576 partitions");
      assertThat(folder.path()).isEmptyDirectory();
    }
  }

  @Test
  void anOwnerThatKeepsItsFilesOpenChangesNeitherIndexNorChecksums() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000, 20);
    inbox.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    Path theirIndex = inbox.file(SHUFFLE, 10, ApplicationFolder.INDEX);
    Path theirChecksums = inbox.file(SHUFFLE, 10, ApplicationFolder.CHECKSUMS + "CRC32C");
    try (RandomAccessFile index = new RandomAccessFile(theirIndex.toFile(), "rw");
        RandomAccessFile checksums = new RandomAccessFile(theirChecksums.toFile(), "rw")) {
      folder.take(inbox, SHUFFLE, 10, self);
      index.setLength(1 << 20);
      checksums.setLength(1 << 20);
    }
    MapOutputFiles.Files found = folder.find(SHUFFLE, 10);
    assertThat(found.index()).hasSameBinaryContentAs(outputs.index(SHUFFLE, 10));
    assertThat(found.checksums()).hasSameBinaryContentAs(outputs.checksums(SHUFFLE, 10));
    assertThat(found.data().getParent()).isDirectoryNotContaining("glob:**/*.theirs");
  }

  /** Executors and daemon may have other locales. */
  @Test
  void theLocaleDoesNotChangeNames() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertThat(inbox.file(SHUFFLE, 10, "data")).hasFileName("5-10.data");
    } finally {
      Locale.setDefault(before);
    }
  }
}
