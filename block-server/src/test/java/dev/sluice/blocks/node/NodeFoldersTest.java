package dev.sluice.blocks.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** Folders on several disks, of which one may be damaged, full or gone. */
class NodeFoldersTest extends NodeDaemonTestCase {
  @Test
  void aFolderThatOthersMayWriteToIsRefused() throws Exception {
    Path root = Files.createDirectory(directory.resolve("node/.sluice"));
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(this::start).hasMessageContaining(".sluice").hasMessageContaining("others");
  }

  @Test
  void aFolderThatIsALinkIsRefused() throws Exception {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(directory.resolve("node/.sluice"), elsewhere);
    assertThatThrownBy(this::start).hasMessageContaining(".sluice").hasMessageContaining("link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void aSecondDaemonDoesNotGetTheFolders() throws Exception {
    start();
    set(NodeSetting.SOCKET, directory.resolve("second.sock").toString());
    assertThatThrownBy(() -> NodeDaemon.start(NodeOptions.of(settings)))
        .hasMessageContaining("another daemon");
  }

  @Test
  void anApplicationOfWhichTheSecretIsLostIsRemovedAndNotOpenToAnybody() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    }
    daemon.close();
    Files.write(folder(APPLICATION).resolve(".application"), new byte[0]);
    start();
    assertThat(daemon.applications()).isEmpty();
    assertThat(folder(APPLICATION)).doesNotExist();
  }
}
