// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.node.StateFile.OtherUser;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files and folders of executors in an inbox, in the place of map outputs. */
class InboxesTest {
  private static final OtherUser USER = new OtherUser(1, "random");
  private static final int FILES = 20;

  @TempDir private Path directory;
  private Path root;
  private Path inbox;
  private Path folderWithFile;

  @BeforeEach
  void fill() throws Exception {
    root = Files.createDirectory(directory.resolve(".sluice"));
    Inboxes.make(root, USER);
    inbox = Inboxes.path(root, USER);
    for (int i = 0; i < FILES; i++) {
      Files.createFile(inbox.resolve("file-" + i));
    }
    Files.createDirectory(inbox.resolve("folder"));
    Path pipe = inbox.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    folderWithFile = Files.createDirectory(inbox.resolve("folder with a file"));
    Files.createFile(folderWithFile.resolve("file"));
  }

  @Test
  void allButFoldersWithFilesAreRemovedOnceTheyAreOld() {
    Inboxes inboxes = new Inboxes(USER, List.of(new ApplicationFolder(root.resolve("app"))));
    inboxes.removeOld(Inboxes.MAX_AGE);
    assertThat(inbox.toFile().list()).hasSize(FILES + 3);
    inboxes.removeOld(Duration.ofMinutes(-1));
    assertThat(inbox.toFile().list()).containsExactly("folder with a file");
  }

  @Test
  void aFolderWithFilesLeavesTheRestToBeDeleted() throws Exception {
    assertThatThrownBy(() -> Inboxes.delete(inbox)).isInstanceOf(DirectoryNotEmptyException.class);
    assertThat(inbox.toFile().list()).containsExactly("folder with a file");
    Files.delete(folderWithFile.resolve("file"));
    Inboxes.delete(inbox);
    assertThat(inbox).doesNotExist();
  }

  @Test
  void anInboxThatIsThereIsMadeAgain() throws Exception {
    Files.setPosixFilePermissions(inbox, PosixFilePermissions.fromString("rwx------"));
    Inboxes.make(root, USER);
    assertThat(Files.getAttribute(inbox, "unix:mode")).isEqualTo(043733);
  }

  @Test
  void aFolderThatOthersMayWriteToIsRefused() throws Exception {
    Files.setPosixFilePermissions(inbox.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> Inboxes.make(root, USER))
        .hasMessageContaining("accessible to other users (rwxrwxrwx)");
    assertThat(Inboxes.of(root)).isEmpty();
  }
}
