// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.handover.FileTree;
import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Folders on several disks, one of which may be damaged, full or missing. */
class NodeFoldersTest extends NodeDaemonTestCase {
  private static final int PATH_MAX = 4_096;

  @Test
  void aFolderThatOthersMayWriteToIsRefused() throws Exception {
    Path root = Files.createDirectory(directory.resolve("node/.sluice"));
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(this::start)
        .hasMessageContaining(".sluice")
        .hasMessageContaining("accessible to other users (rwxrwxrwx)");
  }

  /** The other user could open even files that root writes there. */
  @Test
  void aFolderOfAnotherUserIsRefused() throws Exception {
    assumeTrue(
        System.getProperty("user.name").equals("root"),
        "only root can change the owner of a folder");
    Path root = Files.createDirectory(directory.resolve("node/.sluice"));
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
    Files.setAttribute(root, "unix:uid", 12_345);
    assertThatThrownBy(this::start).hasMessageContaining(".sluice").hasMessageContaining("12345");
    assertThat(root).isEmptyDirectory();
  }

  /** Any user that may write to the directory can make it. */
  @Test
  void aFolderOfInboxesThatIsNotTheDaemonsOwnStopsNothing() throws Exception {
    Path inboxes = Files.createDirectory(directory.resolve("node/.sluice-inbox"));
    Files.setPosixFilePermissions(inboxes, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path inside = Files.createFile(inboxes.resolve("file"));
    try (LogCapture log = new LogCapture(Inboxes.class, Level.WARN)) {
      start();
      assertThat(log.messages()).singleElement().asString().contains("accessible to other users");
    }
    assertOneIsHandedOver();
    assertThat(inside).exists();
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
    set(NodeSettings.SOCKET, directory.resolve("second.sock").toString());
    assertThatThrownBy(() -> NodeDaemon.start(NodeOptions.of(settings)))
        .hasMessageContaining("another daemon");
  }

  /** The next daemon may have it by then. */
  @Test
  void aFolderThatAnswersAfterTheDaemonHasClosedIsNotLocked() throws Exception {
    RootLocks late = new RootLocks();
    late.close();
    assertThatThrownBy(() -> late.lock(directory.resolve("node/.sluice")))
        .hasMessageContaining("closed");
    start();
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

  @Test
  void applicationStateOfAnOlderReleaseIsRead() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      handOver(executor, 10);
    }
    daemon.close();
    Path state = folder(APPLICATION).resolve(".application");
    Files.writeString(state, Files.readString(state).replaceFirst("(?m)^since=.*\n", ""));
    assertThat(since()).isEqualTo(since());
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  private Path withTwoRoots() throws IOException {
    Path second = Files.createDirectory(directory.resolve("second"));
    set(NodeSettings.DIRECTORIES, directory.resolve("node") + "," + second);
    return second.resolve(".sluice");
  }

  private void handOver(NodeClient executor, long mapId) throws IOException {
    executor.handOver(SHUFFLE, mapId, outputs.find(SHUFFLE, mapId));
  }

  @Test
  void mapOutputsOnAFullDiskAreServed() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      handOver(executor, 10);
    }
    daemon.close();
    // Simulates a full disk: the file's successor cannot be made.
    Files.createDirectories(folder(APPLICATION).resolve(".application.new/full"));
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  /** The next start would not find its secret. */
  @Test
  void anApplicationOfWhichNothingCanBeWrittenIsRefused() throws Exception {
    start();
    Files.createDirectories(folder(APPLICATION).resolve(".application.new/full"));
    assertThatThrownBy(() -> enter(APPLICATION, SECRET)).hasMessageContaining(".application.new");
    assertThat(daemon.applications()).isEmpty();
  }

  @Test
  void aDamagedStateIsThatOfOneApplicationAlone() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeClient _ = enter(OTHER, SECRET);
        NodeClient _ = enter("app-3-ef", SECRET)) {
      handOver(executor, 10);
    }
    daemon.close();
    Files.writeString(folder(OTHER).resolve(".application"), "secret=\\u00zz");
    Files.write(folder("app-3-ef").resolve(".application"), new byte[] {-1, -2, 0});
    start();
    assertThat(folder(OTHER)).doesNotExist();
    assertThat(folder("app-3-ef")).doesNotExist();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @Test
  void aDirectoryThatCannotBeHadLeavesTheOthers() throws Exception {
    set(NodeSettings.DIRECTORIES, directory.resolve("gone") + "," + directory.resolve("node"));
    start();
    assertOneIsHandedOver();

    daemon.close();
    set(NodeSettings.DIRECTORIES, directory.resolve("gone") + "," + directory.resolve("lost"));
    assertThatThrownBy(this::start)
        .hasMessageContainingAll(directory.resolve("gone") + "", directory.resolve("lost") + "");
  }

  @Test
  void aDirectoryThatTakesNoFolderLeavesTheOthers() throws Exception {
    Path second = withTwoRoots();
    start();
    Files.createFile(folder(APPLICATION)); // in the first one
    assertOneIsHandedOver();
    assertThat(second.resolve(APPLICATION).resolve(SHUFFLE + "-10")).exists();
  }

  /** The directory was full when the application came; its executor has no other on that disk. */
  @Test
  void aDirectoryThatTakesAFolderLaterIsUsedThen() throws Exception {
    Path shared = Path.of("/dev/shm");
    assumeTrue(Files.isWritable(shared) && !store(shared).equals(store(directory)));
    Path elsewhere = Files.createTempDirectory(shared, "sluice");
    set(NodeSettings.DIRECTORIES, elsewhere + "," + directory.resolve("node"));
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      start();
      Files.createFile(folder(APPLICATION));
      try (NodeClient executor = enter(APPLICATION, SECRET)) {
        assertThatThrownBy(() -> handOver(executor, 11))
            .hasMessageContaining("does not exist for this process");
        Files.delete(folder(APPLICATION));
        handOver(executor, 10);
        assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
      }
      daemon.close();
      set(NodeSettings.DIRECTORIES, directory.resolve("node").toString());
      start(); // with the state that is written there
      try (NodeClient executor = enter(APPLICATION, SECRET)) {
        assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
      }
    } finally {
      FileTree.delete(elsewhere);
    }
  }

  @Test
  void aFailureOfManyApplicationsIsLoggedOnce() throws Exception {
    withTwoRoots();
    start();
    String other = "other-0";
    Files.createFile(folder(APPLICATION)); // in the first one
    Files.createFile(folder(other));
    try (NodeClient first = enter(APPLICATION, SECRET);
        NodeClient second = enter(other, SECRET);
        LogCapture log = new LogCapture(NodeDisks.class, Level.ERROR)) {
      for (int times = 0; times < 4; times++) {
        Thread.sleep(1_100); // so that each is tried again
        first.refresh();
        second.refresh();
      }
      assertThat(log.messages()).as("errors of 8 attempts").hasSizeLessThan(2);
    }
  }

  @Test
  void probeFilesOfAKilledDaemonAreDeleted() throws Exception {
    Path root = Files.createDirectory(directory.resolve("node/.sluice"));
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
    Path left = Files.createFile(root.resolve("sluice-probe-1.data"));
    start();
    daemon.drain(TIMEOUT); // which waits for all that is deleted
    assertThat(left).doesNotExist();
    assertThat(root).isDirectoryNotContaining("glob:**/.removed-*");
  }

  /** Simulates a folder that an executor renames before its age is read, which then fails. */
  @Test
  void unreadableEntriesOfAFolderLeaveTheOthersCounted() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      handOver(executor, 10);
    }
    daemon.close();
    Files.createSymbolicLink(folder(APPLICATION).resolve(".tmp-1"), Path.of("gone"));
    start();
    Poll.await(
        "the map output is known", WAIT, () -> metric(APPLICATION, NodeMetric.MAP_OUTPUTS) > 0);
  }

  /** Otherwise its driver would send readers there for map outputs in the other directory. */
  @Test
  void aNodeThatLacksADirectoryDropsItsFormerMapOutputs() throws Exception {
    Path second = withTwoRoots();
    String first = since();
    assertThat(since()).isEqualTo(first);

    Files.move(second.getParent(), directory.resolve("aside"));
    assertThat(since()).isNotEqualTo(first);
  }

  private String since() throws Exception {
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      return NodeId.parse(executor.endpoint().peer().id()).since();
    } finally {
      daemon.close();
    }
  }

  /** Map outputs there of applications that have begun without it are discarded. */
  @Test
  @Timeout(60)
  void aDirectoryThatDoesNotAnswerLeavesTheOthersAndIsUsedOnceItHas() throws Exception {
    Path second = withTwoRoots();
    Files.createDirectories(second.resolve(APPLICATION).resolve("of before"));
    Files.setPosixFilePermissions(second, PosixFilePermissions.fromString("rwx------"));
    Path pipe = second.resolve("lock"); // Opening it waits for a process that reads from it.
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    try {
      start();
      assertOneIsHandedOver();
    } finally {
      Files.newByteChannel(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
    }
    while (second.toFile().list().length > 1) { // also folders that were put away
      Thread.sleep(20);
    }
    try (NodeClient executor = enter(OTHER, SECRET)) {
      handOver(executor, 10);
      assertThat(second.resolve(OTHER)).isDirectory();
    }
  }

  /**
   * Uses a pipe as the index in the first folder: opening it waits for a process that writes to it.
   */
  @Test
  @Timeout(60)
  void aMapOutputIsLookedForWhereItWasPutAlone() throws Exception {
    withTwoRoots();
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeChannel executor = NodeChannel.connect(socket);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.send(new RegisterExecutor(new ProcessName(APPLICATION, "3"), SECRET));
      Registered entered = (Registered) executor.receive();
      Path stuck = Path.of(entered.folders().getFirst()).resolve(SHUFFLE + "-10");
      Files.write(Files.createDirectory(stuck).resolve("data"), new byte[1_000]);
      Process pipe = new ProcessBuilder("mkfifo", stuck.resolve("index").toString()).start();
      assertThat(pipe.waitFor()).isZero();
      ApplicationFolder second = new ApplicationFolder(Path.of(entered.folders().getLast()));
      second.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));

      executor.send(new HandOver(SHUFFLE, 10, 1));
      assertThat(executor.receive()).isEqualTo(new Accepted());
      PeerAddress node = new PeerAddress(entered.nodeId(), entered.host(), entered.port());
      assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(data);
      executor.send(new HandOver(SHUFFLE, 10, 2));
      assertThat(executor.receive()).isInstanceOf(Refused.class);
    }
  }

  /** The executor did not wait for the answer; another one has a copy. */
  @Test
  void mapOutputsTakenBackAreAcceptedInAnotherFolder() throws Exception {
    withTwoRoots();
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeChannel executor = NodeChannel.connect(socket);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.send(new RegisterExecutor(new ProcessName(APPLICATION, "3"), SECRET));
      Registered entered = (Registered) executor.receive();
      for (int folder = 0; folder < 2; folder++) {
        ApplicationFolder each = new ApplicationFolder(Path.of(entered.folders().get(folder)));
        each.commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
        executor.send(new HandOver(SHUFFLE, 10, folder));
        assertThat(executor.receive()).isEqualTo(new Accepted());
        PeerAddress node = new PeerAddress(entered.nodeId(), entered.host(), entered.port());
        assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(data);
        each.remove(SHUFFLE, folder == 0 ? 10 : 11);
      }
      assertThat(metric(APPLICATION, NodeMetric.MAP_OUTPUTS)).isEqualTo(1);
    }
  }

  private void assertOneIsHandedOver() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      handOver(executor, 10);
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  /** The state is of another boot here, and of this boot in the other directory. */
  @Test
  void stateOfAnotherBootInOneDirectoryIsNotServed() throws Exception {
    Path second = withTwoRoots();
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      handOver(executor, 10);
    }
    daemon.close();
    Path state = folder(APPLICATION).resolve(".application");
    Files.writeString(state, Files.readString(state).replaceFirst("(?m)^boot=.*$", "boot=another"));
    start();
    assertThat(second.resolve(APPLICATION)).exists();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      assertThat(reader.locate(executor.endpoint().peer(), SHUFFLE, 10)).isNull();
    }
  }

  /** Renaming fails, since the path would be too long. */
  @Test
  void aFolderThatCannotBeRemovedDelaysNothing() throws Exception {
    Path deep = directory;
    while (deep.toString().length() < PATH_MAX - 50) {
      int missing = PATH_MAX - 31 - deep.toString().length();
      deep = Files.createDirectory(deep.resolve("d".repeat(Math.min(missing, 200))));
    }
    CountDownLatch gone = new CountDownLatch(1);
    try (NodeFolders folders = NodeFolders.open(List.of(deep))) {
      ApplicationState state = ApplicationState.first("app", "");
      folders.make(state);
      Application application =
          new Application(
              folders,
              (_, _, _) -> {
                throw new IOException("not served");
              },
              state,
              () -> {},
              gone::countDown);
      application.tidy(Duration.ZERO);
      assertThat(gone.await(WAIT_S, TimeUnit.SECONDS))
          .as("the application may enter again")
          .isTrue();
      assertThat(application.enter(state)).isNull();
    }
  }

  @Test
  void drainingWaitsUntilEndedApplicationsAreDeleted() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      for (int i = 0; i < 2_000; i++) {
        Files.createDirectories(folder(APPLICATION).resolve("x-" + i + "/y"));
      }
      handOver(executor, 10);
      driver.tell(executor.endpoint().peer(), new EndApplication());
      daemon.drain(TIMEOUT);
      assertThat(directory.resolve("node/.sluice")).isDirectoryNotContaining("glob:**/.removed-*");
    }
  }
}
