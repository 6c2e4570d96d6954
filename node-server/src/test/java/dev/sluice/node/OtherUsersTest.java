// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.FileTree;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.ContainerDirectories;
import dev.sluice.testkit.OtherUser;
import dev.sluice.testkit.Poll;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The daemon, executors and strangers are processes of three users, on directories as YARN's
 * LinuxContainerExecutor makes them. Runs as root.
 */
class OtherUsersTest {
  private static final String NAME = "app-1-ab";
  private static final String SECRET = "of the application";
  private static final int SHUFFLE = 5;

  /** In the place of a map output, for an executor that only enters. */
  private static final int NONE = -1;

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String HANDED_OVER = "handed over to ";
  private static final String REFUSED = "refused: ";

  @TempDir private Path directory;
  private final Map<String, String> settings = new HashMap<>();
  private String classPath;
  private Path local;
  private Path socket;
  private Path application;
  private TestMapOutputs outputs;

  @BeforeEach
  void makeDirectories() throws Exception {
    String reason = OtherUser.reasonAgainst(directory);
    assumeTrue(reason.isEmpty(), reason);
    ContainerDirectories directories = ContainerDirectories.make(directory);
    classPath = directories.classPath();
    local = directories.local();
    application = directories.application();
    outputs = new TestMapOutputs(application);
    socket = local.resolve("node.sock");
    settings.put(NodeSettings.DIRECTORIES.key(), local.toString());
    settings.put(NodeSettings.SOCKET.key(), socket.toString());
    settings.put(NodeSettings.OTHER_USERS.key(), "true");
    settings.put(NodeSettings.HOST.key(), "127.0.0.1");
    settings.put(NodeSettings.PROVIDER.key(), "soft");
    settings.put(NodeSettings.PORTS.key(), "0");
    settings.put(NodeSettings.MIN_FREE_BYTES.key(), "1m");
    settings.put(NodeSettings.HTTP.key(), "");
  }

  private NodeProcess startDaemon() throws Exception {
    return NodeProcess.start(
        NodeMain.class, directory, settings, OtherUser.MANAGER.launcher(), classPath);
  }

  /** Writes a map output, of which the group of its directory may read. */
  private byte[] write(long mapId) throws Exception {
    byte[] data = outputs.write(SHUFFLE, mapId, 1_000, 20);
    chown(mapId, "bin:daemon", "640");
    return data;
  }

  private void chown(long mapId, String owner, String mode) throws Exception {
    for (Path file :
        List.of(
            outputs.data(SHUFFLE, mapId),
            outputs.index(SHUFFLE, mapId),
            outputs.checksums(SHUFFLE, mapId))) {
      run("chown", owner, file.toString());
      run("chmod", mode, file.toString());
    }
  }

  private static void run(String... command) throws Exception {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }

  /** Executor in a process of its own: hands one map output over, and lives on. */
  static final class Executor {
    public static void main(String[] arguments) throws Exception {
      long mapId = Long.parseLong(arguments[2]);
      Optional<String> daemon = Optional.of(arguments[4]).filter(user -> !user.isEmpty());
      try (NodeClient client =
          new NodeClient(
              Path.of(arguments[0]),
              daemon,
              new ProcessName(NAME, "3"),
              arguments[3],
              new NodeClient.Limits(TIMEOUT, Duration.ZERO),
              Thread::startVirtualThread)) {
        client.refresh();
        TestMapOutputs own = new TestMapOutputs(Path.of(arguments[1]));
        if (mapId != NONE) {
          client.handOver(SHUFFLE, mapId, own.find(SHUFFLE, mapId));
        }
        PeerAddress node = client.endpoint().peer();
        System.out.println(HANDED_OVER + node.id() + " " + node.host() + " " + node.port());
        Thread.sleep(Long.MAX_VALUE);
      } catch (IOException e) {
        System.out.println(REFUSED + e.getMessage());
      }
    }
  }

  /** Starts an executor, and returns the line that it prints before it is killed. */
  private String handOver(OtherUser user, long mapId, String secret, String daemon)
      throws Exception {
    List<String> command = new ArrayList<>(user.launcher());
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath,
            Executor.class.getName(),
            socket.toString(),
            application.toString(),
            Long.toString(mapId),
            secret,
            daemon));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      while (line != null && !line.startsWith(HANDED_OVER) && !line.startsWith(REFUSED)) {
        line = lines.readLine();
      }
      return line == null ? "the executor has ended" : line;
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private PeerAddress handOver(long mapId) throws Exception {
    String line = handOver(OtherUser.OWNER, mapId, SECRET, "daemon");
    assertThat(line).startsWith(HANDED_OVER);
    String[] words = line.substring(HANDED_OVER.length()).split(" ");
    return new PeerAddress(words[0], words[1], Integer.parseInt(words[2]));
  }

  @Test
  void mapOutputsOfKilledExecutorsAreReadFromTheDaemonAlone() throws Exception {
    byte[] first = write(10);
    byte[] second = write(11);
    try (NodeProcess daemon = startDaemon();
        NodeReader reader = new NodeReader(NAME, SECRET);
        NodeReader intruder = new NodeReader(NAME, "guessed")) {
      PeerAddress node = handOver(10);
      assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(first);
      assertThatThrownBy(() -> intruder.locate(node, SHUFFLE, 10)).isInstanceOf(Exception.class);

      daemon.kill();
      try (NodeProcess _ = startDaemon()) {
        PeerAddress again = handOver(11);
        FileTree.delete(application); // as the NodeManager does after the application
        assertThat(reader.read(again, SHUFFLE, 10)).isEqualTo(first);
        assertThat(reader.read(again, SHUFFLE, 11)).isEqualTo(second);
        assertClosedToOthers();

        reader.tell(again, new EndApplication());
        Poll.await("the application is removed", TIMEOUT, () -> Files.notExists(folder()));
        Poll.await("its inbox is removed", TIMEOUT, () -> inboxes().isEmpty());
      }
    }
  }

  private Path folder() {
    return local.resolve(".sluice").resolve(NAME);
  }

  private List<Path> inboxes() throws IOException {
    try (Stream<Path> inboxes = Files.list(local.resolve(".sluice-inbox"))) {
      return inboxes.toList();
    }
  }

  /** Not even the owner finds its map outputs, nor its inbox without the name. */
  private void assertClosedToOthers() throws Exception {
    Path data = folder().resolve(SHUFFLE + "-10/data");
    assertThat(data).exists();
    for (OtherUser user : List.of(OtherUser.OWNER, OtherUser.STRANGER)) {
      assertThat(user.run("cat", data.toString())).isNotZero();
      assertThat(user.run("ls", local.resolve(".sluice").toString())).isNotZero();
      assertThat(user.run("ls", local.resolve(".sluice-inbox").toString())).isNotZero();
    }
    Path inbox = inboxes().getFirst();
    assertThat(inboxes()).containsExactly(inbox);
    assertThat(inbox).isEmptyDirectory();
    assertThat(Files.getAttribute(inbox, "unix:mode")).isEqualTo(043733);
    assertThat(OtherUser.STRANGER.run("ls", inbox.toString())).isNotZero();
  }

  @Test
  void refusalsTellWhatToSet() throws Exception {
    write(10);
    try (NodeProcess _ = startDaemon()) {
      assertThat(handOver(OtherUser.OWNER, 10, "", "daemon")).contains("spark.authenticate=true");
      assertThat(handOver(OtherUser.OWNER, 10, SECRET, ""))
          .contains("spark.shuffle.rdma.node.user=daemon");
      handOver(10);
      assertThat(handOver(OtherUser.STRANGER, 10, SECRET, "daemon"))
          .contains("belongs to another user");
      assertThat(handOver(OtherUser.OWNER, 10, "guessed", "daemon"))
          .contains("the secret is not that of application");

      write(11);
      chown(11, "bin:bin", "640");
      assertThat(handOver(OtherUser.OWNER, 11, SECRET, "daemon"))
          .contains("may not read", "the daemon's group and the setgid bit");
      assertThat(folder().resolve("5-10")).exists();
      assertThat(folder().resolve("5-11")).doesNotExist();
    }
    settings.remove(NodeSettings.OTHER_USERS.key());
    try (NodeProcess _ = startDaemon()) {
      assertThat(handOver(OtherUser.OWNER, 10, SECRET, "daemon"))
          .contains("sluice.node.otherUsers=true");
    }
  }

  /** As on a disk that has become full or read-only. */
  @Test
  void mapOutputsAreServedWhileNoInboxCanBeMade() throws Exception {
    byte[] data = write(10);
    write(11);
    Path parent = local.resolve(".sluice-inbox");
    try (NodeProcess daemon = startDaemon();
        NodeReader reader = new NodeReader(NAME, SECRET)) {
      handOver(10);
      daemon.kill();
      FileTree.delete(parent);
      Files.createFile(parent);
      try (NodeProcess _ = startDaemon()) {
        assertThat(reader.read(handOver(NONE), SHUFFLE, 10)).isEqualTo(data);
        assertThat(Files.readString(directory.resolve("node.log")))
            .contains("making its inbox failed");
        Files.delete(parent);
        handOver(11);
      }
    }
  }

  @Test
  void inboxesOfAKilledDaemonAreDeleted() throws Exception {
    write(10);
    try (NodeProcess daemon = startDaemon()) {
      handOver(10);
      Path inbox = inboxes().getFirst();
      assertThat(OtherUser.OWNER.run("mkdir", inbox.resolve("folder").toString())).isZero();
      assertThat(OtherUser.OWNER.run("mkfifo", inbox.resolve("5-11.data").toString())).isZero();
      assertThat(OtherUser.OWNER.run("touch", inbox.resolve("5-12.data").toString())).isZero();
      daemon.kill();
      try (NodeProcess _ = startDaemon()) {
        Poll.await("the inbox is deleted", TIMEOUT, () -> Files.notExists(inbox));
      }
    }
  }

  /** It has learnt the inbox's name, and puts its own file in the place of an executor's. */
  @Test
  void aFileOfAStrangerIsNotTaken() throws Exception {
    write(10);
    write(11);
    try (NodeProcess _ = startDaemon()) {
      handOver(10);
      Path planted = inboxes().getFirst().resolve("5-11.data");
      assertThat(OtherUser.STRANGER.run("sh", "-c", "echo planted > " + planted)).isZero();
      assertThat(handOver(OtherUser.OWNER, 11, SECRET, "daemon")).startsWith(REFUSED);
      assertThat(folder().resolve("5-11")).doesNotExist();
      assertThat(planted).exists();
    }
  }
}
