// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.ExecutorFolders;
import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.handover.NodeClient.NodeEndpoint;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Daemon in a process that is killed and started again. */
class NodeProcessTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final NodeClient.Limits LIMITS = new NodeClient.Limits(TIMEOUT, TIMEOUT);
  private static final ProcessName EXECUTOR = new ProcessName("app-1-ab", "3");
  private static final String SECRET = "of the application";
  private static final int SHUFFLE = 5;
  private static final int MAP_OUTPUTS = 400;
  private static final int TASKS = 4;
  private static final int KILLS = 3;
  private static final int MANY_TASKS = 40;

  /** Listens on a socket, and prints the bytes that it gets. */
  private static final String STRANGER =
      """
      import socket, sys
      server = socket.socket(socket.AF_UNIX)
      server.bind(sys.argv[1])
      server.listen()
      print("heard", server.accept()[0].recv(1000))
      """;

  @TempDir Path directory;
  private Path socket;
  private TestMapOutputs outputs;

  @BeforeEach
  void open() throws Exception {
    Files.createDirectory(directory.resolve("node"));
    outputs = new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    socket = directory.resolve("node.sock");
  }

  private NodeProcess start() throws Exception {
    return start("10min");
  }

  private NodeProcess start(String expireAfter) throws Exception {
    return start(expireAfter, "0s");
  }

  private NodeProcess start(String expireAfter, String drainTimeout) throws Exception {
    return NodeProcess.start(directory, settings(expireAfter, drainTimeout));
  }

  private Map<String, String> settings(String expireAfter, String drainTimeout) {
    return Map.of(
        NodeSettings.EXPIRE_AFTER.key(), expireAfter,
        NodeSettings.DRAIN_TIMEOUT.key(), drainTimeout,
        NodeSettings.PORTS.key(), "0",
        NodeSettings.DIRECTORIES.key(), directory.resolve("node").toString(),
        NodeSettings.SOCKET.key(), socket.toString(),
        NodeSettings.HOST.key(), "127.0.0.1",
        NodeSettings.PROVIDER.key(), "soft",
        NodeSettings.MIN_FREE_BYTES.key(), "1m",
        NodeSettings.HTTP.key(), "");
  }

  /** Daemon with a thread that ends on command, as by an Error. */
  static final class Failing {
    public static void main(String[] arguments) throws IOException {
      NodeMain.main(arguments);
      while (System.in.read() >= 0) {
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("sluice-node-accept"))
            .forEach(Thread::interrupt);
      }
    }
  }

  /** Otherwise such clients would take the descriptors that serving blocks needs. */
  @Test
  void aClientThatSendsHalfARequestIsDisconnected() throws Exception {
    int port = NodeDaemonTestCase.threeFreePorts();
    Map<String, String> settings = new HashMap<>(settings("10min", "0s"));
    settings.put(NodeSettings.HTTP.key(), "127.0.0.1:" + port);
    try (NodeProcess _ = NodeProcess.start(directory, settings);
        Socket client = connect(port)) {
      client
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: a".getBytes(StandardCharsets.US_ASCII));
      client.setSoTimeout(Math.toIntExact(Duration.ofMinutes(1).toMillis()));
      assertThat(client.getInputStream().read()).isNegative();
    }
  }

  /** The daemon opens its pages a moment after its socket. */
  private static Socket connect(int port) throws Exception {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      try {
        return new Socket("127.0.0.1", port);
      } catch (ConnectException e) {
        assertThat(System.nanoTime() - deadlineNanos).as("%s", e).isNegative();
        Thread.sleep(20);
      }
    }
  }

  /** Otherwise the daemon would live on, and no executor could enter. */
  @Test
  void aDaemonOfWhichAThreadEndsIsStartedAgainByItsSupervisor() throws Exception {
    try (NodeProcess daemon =
        NodeProcess.start(Failing.class, directory, settings("10min", "0s"))) {
      daemon.say("end");
      assertThat(daemon.exitCode()).isEqualTo(3);
    }
    assertThat(Files.readString(directory.resolve("node.log")))
        .contains("Thread sluice-node-accept of the node daemon failed");
  }

  /** Otherwise the timer would hide the Error, and ended applications would stay. */
  @Test
  void aDaemonOfWhichTheTimerEndsIsStartedAgainByItsSupervisor() throws Exception {
    Path damaged =
        directory.resolve(
            "classes/" + NodeDaemon.TidyThread.class.getName().replace('.', '/') + ".class");
    Files.createDirectories(damaged.getParent());
    Files.createFile(damaged);
    try (NodeProcess daemon = start("1s");
        NodeChannel executor = NodeChannel.connect(socket)) {
      executor.send(new RegisterExecutor(EXECUTOR, SECRET));
      assertThat(daemon.exitCode()).isEqualTo(3);
    }
    assertThat(Files.readString(directory.resolve("node.log")))
        .contains("Thread sluice-timer of the node daemon failed");
  }

  @Test
  void mapOutputsOutliveTheirExecutorAndAKilledDaemon() throws Exception {
    byte[] first = outputs.write(SHUFFLE, 10, 1_000, 0, 50_000);
    byte[] second = outputs.write(SHUFFLE, 11, 0, 7);
    NodeEndpoint node;
    try (NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
      try (NodeProcess daemon = start()) {
        try (NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS)) {
          node = executor.endpoint();
          executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
          executor.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
        }
        outputs.delete(SHUFFLE, 10);
        outputs.delete(SHUFFLE, 11);
        assertThat(node.provider()).isEqualTo("soft");
        assertThat(reader.read(node.peer(), SHUFFLE, 10)).isEqualTo(first);
        assertThat(reader.read(node.peer(), SHUFFLE, 11)).isEqualTo(second);
        daemon.kill();
      }
      reader.lost(node.peer());
      try (NodeProcess daemon = start()) {
        NodeResponse heard =
            reader.tell(node.peer(), new Renew(NodeResponse.NEVER, new int[] {SHUFFLE}));
        String id = heard.nodeId();
        assertThat(id).isNotEqualTo(node.peer().id());
        assertThat(heard.keeps(node.peer().id())).isTrue();
        PeerAddress again = new PeerAddress(id, node.peer().host(), node.peer().port());
        assertThat(reader.read(again, SHUFFLE, 10)).isEqualTo(first);
        assertThat(reader.read(again, SHUFFLE, 11)).isEqualTo(second);
        assertThat(daemon.terminate()).as("SIGTERM").isEqualTo(143);
      }
    }
  }

  @Test
  void acceptedMapOutputsSurviveAnyNumberOfKills() throws Exception {
    Map<Long, byte[]> written = new HashMap<>();
    for (long mapId = 0; mapId < MAP_OUTPUTS; mapId++) {
      written.put(mapId, outputs.write(SHUFFLE, mapId, 100, 900));
    }
    Set<Long> taken = ConcurrentHashMap.newKeySet();
    NodeProcess daemon = start();
    try (NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS);
        NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET);
        ExecutorService tasks = Executors.newFixedThreadPool(TASKS)) {
      List<Future<?>> handOvers =
          written.keySet().stream()
              .<Future<?>>map(mapId -> tasks.submit(() -> handOver(executor, mapId, taken)))
              .toList();
      for (int kill = 1; kill <= KILLS; kill++) {
        awaitSize(taken, kill * MAP_OUTPUTS / (KILLS + 1));
        daemon.kill();
        daemon = start();
      }
      for (Future<?> handOver : handOvers) {
        handOver.get(TIMEOUT.toSeconds() * 2, TimeUnit.SECONDS);
      }
      assertThat(taken).as("hand-overs that a kill interrupted are repeated").hasSize(MAP_OUTPUTS);
      for (long mapId : taken) {
        assertThat(readAny(reader, executor.endpoint().peer(), mapId, written.get(mapId).length))
            .isEqualTo(written.get(mapId));
      }
    } finally {
      daemon.close();
    }
  }

  /**
   * READs a map output of two partitions. RLIMIT_NOFILE may allow fewer registered map outputs than
   * these; the others are staged.
   */
  private static byte[] readAny(NodeReader reader, PeerAddress node, long mapId, int bytes)
      throws Exception {
    return reader.isRegistered(node, SHUFFLE, mapId)
        ? reader.read(node, SHUFFLE, mapId)
        : reader.readStaged(node, SHUFFLE, mapId, 2, bytes);
  }

  private Void handOver(NodeClient executor, long mapId, Set<Long> taken) throws Exception {
    executor.handOver(SHUFFLE, mapId, outputs.find(SHUFFLE, mapId));
    outputs.delete(SHUFFLE, mapId);
    taken.add(mapId);
    return null;
  }

  private static void awaitSize(Set<Long> taken, int size) throws Exception {
    Poll.await(size + " map outputs are taken", TIMEOUT, () -> taken.size() >= size);
  }

  @Test
  void anExecutorEntersADaemonThatWasStartedAgain() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    NodeProcess daemon = start();
    try (NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS);
        NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
      String before = executor.endpoint().peer().id();
      daemon.kill();
      daemon = start();
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(executor.endpoint().peer().id()).isNotEqualTo(before);
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    } finally {
      daemon.close();
    }
  }

  @Test
  void aDaemonThatIsTerminatedServesUntilItsApplicationsAreOver() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeProcess daemon = start("10min", "10min");
        NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS);
        NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      daemon.signal("TERM");
      awaitRefusal("the node daemon is draining (it is stopping)");
      executor.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);

      reader.tell(executor.endpoint().peer(), new EndApplication());
      assertThat(daemon.exitCode()).isEqualTo(143);
    }
  }

  /** Tries to enter until it is refused; each attempt names a new application. */
  private void awaitRefusal(String reason) throws Exception {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    for (int i = 0; ; i++) {
      ProcessName other = new ProcessName("other-" + i, "1");
      try (NodeClient early = NodeClient.enter(socket, other, SECRET, LIMITS);
          NodeReader driver = new NodeReader(other.application(), SECRET)) {
        driver.tell(early.endpoint().peer(), new EndApplication());
        assertThat(System.nanoTime()).isLessThan(deadlineNanos);
      } catch (IOException e) {
        assertThat(e).hasMessageContaining(reason);
        return;
      }
    }
  }

  @Test
  void anExecutorWaitsForADaemonThatIsStillStarting() throws Exception {
    try (ExecutorService task = Executors.newSingleThreadExecutor()) {
      Future<NodeClient> entering =
          task.submit(() -> NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS));
      try (NodeProcess _ = start();
          NodeClient executor = entering.get(TIMEOUT.toSeconds() * 2, TimeUnit.SECONDS)) {
        assertThat(executor.endpoint().provider()).isEqualTo("soft");
      }
    }
  }

  /** Each task waits only for its own limit, however many there are. Closing waits no longer. */
  @Test
  void aDaemonThatIsStoppedFailsHandOversWithinTheirLimit() throws Exception {
    // Long enough to enter at a JVM that has just begun.
    NodeClient.Limits limits = new NodeClient.Limits(Duration.ofSeconds(3), TIMEOUT);
    try (NodeProcess daemon = start();
        NodeClient _ = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS); // opens the application
        NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, limits)) {
      daemon.signal("STOP");
      for (int round = 0; round < 2; round++) { // with the connection, then without one
        for (Future<?> handOver : handOverAtOnce(executor)) {
          assertThatThrownBy(() -> handOver.get(1, TimeUnit.MILLISECONDS))
              .hasMessageContaining("was not handed over");
        }
      }
      daemon.signal("CONT");
      byte[] data = outputs.write(SHUFFLE, 10, 1_000);
      awaitHandOver(executor, 10);
      try (NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
        assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
      }
    }
  }

  /** The daemon has not heard its driver meanwhile. */
  @Test
  void aDaemonThatWasStoppedForLongRemovesNoApplicationForThat() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeProcess daemon = start("6s");
        NodeClient executor = NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS);
        NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      daemon.signal("STOP");
      Thread.sleep(7_000);
      daemon.signal("CONT");
      Thread.sleep(1_000);
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  /** Map outputs that it handed over are served from another name of the same file. */
  @Test
  void foldersOfAKilledExecutorAreDeleted() throws Exception {
    byte[] data = outputs.write(SHUFFLE, ExecutorProcess.MAP_ID, 1_000);
    Path folders = directory.resolve("node");
    Path dead = Files.createDirectory(folders.resolve("blockmgr-1"));
    Path living = Files.createDirectory(folders.resolve("blockmgr-2"));
    Path unknown = Files.createDirectory(folders.resolve("blockmgr-3"));
    ExecutorFolders.hold(List.of(unknown)).close(); // never seen locked
    Files.move(directory.resolve("executor"), dead.resolve("executor"));
    Map<String, String> settings = new HashMap<>(settings("10s", "0s")); // looks every second
    settings.put(NodeSettings.DELETE_DEAD.key(), "true");
    try (NodeProcess _ = NodeProcess.start(directory, settings);
        ExecutorFolders _ = ExecutorFolders.hold(List.of(living));
        NodeReader reader = new NodeReader(EXECUTOR.application(), SECRET)) {
      PeerAddress node;
      try (ExecutorProcess executor =
          ExecutorProcess.start(socket, dead.resolve("executor"), dead)) {
        node = executor.node();
        awaitSeen(dead);
        Thread.sleep(1_500);
        assertThat(dead).exists();
      }
      Poll.await(
          "the dead executor's folder is deleted",
          TIMEOUT,
          () -> {
            assertThat(reader.read(node, SHUFFLE, ExecutorProcess.MAP_ID)).isEqualTo(data);
            return Files.notExists(dead);
          });
      assertThat(living).exists();
      assertThat(unknown).exists();
    }
  }

  /** Waits until the daemon has seen the executor's lock. */
  private static void awaitSeen(Path folder) throws Exception {
    Poll.await(
        "the daemon has seen " + folder,
        TIMEOUT,
        () -> Files.size(folder.resolve(".sluice-executor")) > 0);
  }

  @Test
  void anotherUsersProcessAtTheSocketIsNotToldTheSecret() throws Exception {
    assumeTrue(
        Files.getOwner(directory).getName().equals("root"),
        "only root can start a process of another user");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    Process stranger =
        new ProcessBuilder(
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                "/usr/bin/python3",
                "-c",
                STRANGER,
                "" + socket)
            .redirectErrorStream(true)
            .start();
    try {
      assertThatThrownBy(() -> NodeClient.enter(socket, EXECUTOR, SECRET, LIMITS))
          .hasMessageContaining("the process that listens there runs as");
      assertThat(stranger.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(new String(stranger.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo("heard b''\n");
    } finally {
      stranger.destroyForcibly();
    }
  }

  private void awaitHandOver(NodeClient executor, long mapId) throws Exception {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      try {
        executor.handOver(SHUFFLE, mapId, outputs.find(SHUFFLE, mapId));
        return;
      } catch (IOException e) {
        assertThat(System.nanoTime()).as("%s", e).isLessThan(deadlineNanos);
      }
    }
  }

  private List<Future<?>> handOverAtOnce(NodeClient executor) throws Exception {
    for (long mapId = 100; mapId < 100 + MANY_TASKS; mapId++) {
      outputs.write(SHUFFLE, mapId, 10);
    }
    ExecutorService tasks = Executors.newFixedThreadPool(MANY_TASKS);
    List<Future<?>> handOvers = new ArrayList<>();
    for (long mapId = 100; mapId < 100 + MANY_TASKS; mapId++) {
      long id = mapId;
      handOvers.add(tasks.submit(() -> handOver(executor, id, new HashSet<>())));
    }
    tasks.shutdown();
    assertThat(tasks.awaitTermination(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
        .as("tasks do not wait one after the other")
        .isTrue();
    return handOvers;
  }
}
