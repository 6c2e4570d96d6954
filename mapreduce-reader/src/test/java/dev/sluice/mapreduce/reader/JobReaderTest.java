// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.server.RecordingProxy;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.NodeReader;
import dev.sluice.mapreduce.RemotePartition;
import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A reader and a node daemon in this process, with map outputs as MapReduce lays them out, on the
 * software provider. A subclass chooses another one.
 */
@Timeout(120)
class JobReaderTest {
  private static final String APPLICATION = "application_1700000000000_0012";
  private static final String JOB = APPLICATION + "-mapreduce";
  private static final String HOST = "127.0.0.1";
  private static final String SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQ=";
  private static final int REDUCERS = 3;
  private static final int PARTITION = 1;

  @TempDir private Path directory;

  private final Random random = new Random(7);
  private final Map<Long, byte[]> expected = new HashMap<>();
  private final Map<String, String> options = new HashMap<>();
  private int port;
  private @Nullable NodeDaemon daemon;

  /** Provider of the daemon and of the reader. */
  String provider() {
    return "soft";
  }

  @BeforeEach
  void configure() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    options.put("sluice.node.directories", directory.toString());
    options.put("sluice.node.socket", directory.resolve("node.sock").toString());
    options.put("sluice.node.host", HOST);
    options.put("sluice.node.provider", provider());
    options.put("sluice.node.http", "");
    options.put("sluice.node.ports", "0");
    options.put("sluice.node.minFreeBytes", "0");
    options.put("sluice.node.mapreduce.port", Integer.toString(port));
  }

  @AfterEach
  void stop() {
    if (daemon != null) {
      daemon.close();
    }
  }

  @Test
  void registeredMapOutputsAreRead() throws Exception {
    start();
    assertRead(200, 4_000, false);
  }

  @Test
  void mapOutputsBeyondTheNodesMemoryAreStaged() throws Exception {
    options.put("sluice.node.registration.maxBytes", "0");
    start();
    assertRead(200, 4_000, true);
  }

  @Test
  void largePartitionsAreReadInPieces() throws Exception {
    start();
    assertRead(3, 5_000_001, false);
  }

  @Test
  void largePartitionsAreStagedInPieces() throws Exception {
    options.put("sluice.node.registration.maxBytes", "0");
    start();
    assertRead(3, 5_000_001, true);
  }

  @Test
  void whatTheNodeLacksIsToldAndTheRestIsRead() throws Exception {
    start();
    long[] ids = write(10, 100);
    Files.delete(output(ids[4]).resolve("file.out"));
    damage(output(ids[5]).resolve("file.out.index"));
    try (NodeReader reader = open(SECRET)) {
      List<RemotePartition> located = reader.locate(HOST, ids);
      assertThat(located).hasSize(ids.length);
      for (int i = 0; i < ids.length; i++) {
        assertThat(located.get(i).failure())
            .as("map output %d", i)
            .isEqualTo(i == 4 || i == 5 ? HttpReason.NOT_REGISTERED : null);
      }
      List<RemotePartition> there =
          located.stream().filter(each -> each.failure() == null).toList();
      assertThat(read(reader, there)).isEqualTo(expected(there));
    }
  }

  /** The proxy accepts a single connection. */
  @Test
  void aReaderConnectsOnceToANode() throws Exception {
    start();
    long[] ids = write(10, 100);
    try (RecordingProxy proxy = new RecordingProxy(port);
        NodeReader reader = open(SECRET, proxy.port())) {
      List<RemotePartition> located = reader.locate(HOST, ids);
      assertThat(read(reader, located)).isEqualTo(expected(located));
    }
  }

  @Test
  void anotherSecretOpensNothing() throws Exception {
    start();
    long[] ids = write(1, 100);
    try (NodeReader reader = open("b3RoZXI=")) {
      assertThatThrownBy(() -> reader.locate(HOST, ids))
          .isInstanceOfSatisfying(
              NodeReadException.class, e -> assertThat(e.reason()).isEqualTo(HttpReason.PEER));
    }
  }

  @Test
  void aNodeWithoutADaemonIsAskedOnce() throws Exception {
    start();
    long[] ids = write(1, 100);
    daemon.close();
    try (NodeReader reader = open(SECRET)) {
      NodeReadException first = null;
      for (int i = 0; i < 3; i++) {
        try {
          reader.locate(HOST, ids);
        } catch (NodeReadException e) {
          assertThat(e.reason()).isEqualTo(HttpReason.PEER);
          assertThat(first == null || first == e).as("the first failure").isTrue();
          first = e;
        }
      }
      assertThat(first).isNotNull();
    }
  }

  /** As behind a firewall that drops packets: connections wait, and nothing answers. */
  @Test
  void aReaderWaitsForAFewSilentNodesOnly() throws Exception {
    try (ServerSocket silent = new ServerSocket(port);
        NodeReader reader = open(SECRET, port, Map.of("sluice.mapreduce.timeout", "1s"))) {
      List<String> answers = new ArrayList<>();
      for (int node = 1; node <= 5; node++) {
        answers.add(failure(reader, "127.0.0." + node));
      }
      assertThat(silent.isBound()).isTrue();
      assertThat(answers.subList(0, 3))
          .allSatisfy(each -> assertThat(each).contains("did not find the job's block server"));
      assertThat(answers.subList(3, 5))
          .allSatisfy(each -> assertThat(each).contains("is still being asked"));
    }
  }

  private static String failure(NodeReader reader, String host) {
    AtomicReference<String> message = new AtomicReference<>();
    assertThatThrownBy(() -> reader.locate(host, new long[] {1}))
        .isInstanceOfSatisfying(
            NodeReadException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(HttpReason.PEER);
              message.set(e.getMessage());
            });
    return message.get();
  }

  @Test
  void aDaemonThatStartsAgainIsFoundAgain() throws Exception {
    start();
    long[] ids = write(10, 100);
    try (NodeReader reader = open(SECRET)) {
      assertThat(read(reader, reader.locate(HOST, ids)))
          .isEqualTo(expected(reader.locate(HOST, ids)));
      daemon.close();
      awaitFreePort();
      start();
      List<RemotePartition> located = reader.locate(HOST, ids);
      assertThat(read(reader, located)).isEqualTo(expected(located));
    }
  }

  @Test
  void aStreamThatIsClosedEarlyKeepsNoBuffer() throws Exception {
    start();
    long[] ids = write(2, 3_000_000);
    try (NodeReader reader = open(SECRET)) {
      List<RemotePartition> located = reader.locate(HOST, ids);
      for (int i = 0; i < 50; i++) { // the pool has room for 32 pieces
        try (InputStream bytes = reader.open(located)) {
          assertThat(bytes.read()).isNotNegative();
        }
      }
      assertThat(read(reader, located)).isEqualTo(expected(located));
    }
  }

  @ParameterizedTest
  @CsvSource({"timeuot, timeout", "hone, home", "xyz, xyz"})
  void anUnknownSettingIsRefusedByName(String name, String told) {
    assertThatThrownBy(
            () ->
                new JobReaderFactory()
                    .open(JOB, SECRET, "r", 0, Map.of("sluice.mapreduce." + name, "1s")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("sluice.mapreduce." + name)
        .hasMessageContaining("sluice.mapreduce." + told);
  }

  private void assertRead(int maps, int bytes, boolean staged) throws Exception {
    long[] ids = write(maps, bytes);
    try (NodeReader reader = open(SECRET)) {
      List<RemotePartition> located = reader.locate(HOST, ids);
      assertThat(located)
          .allSatisfy(
              each -> {
                assertThat(each.failure()).isNull();
                assertThat(((NodePartition) each).isStaged()).isEqualTo(staged);
                assertThat(each.rawBytes()).isEqualTo(each.bytes() + 1);
              });
      assertThat(read(reader, located)).isEqualTo(expected(located));
    }
  }

  private static byte[] read(NodeReader reader, List<RemotePartition> located) throws IOException {
    try (InputStream bytes = reader.open(located)) {
      return bytes.readAllBytes();
    }
  }

  private byte[] expected(List<RemotePartition> located) {
    ByteBuffer all =
        ByteBuffer.allocate(
            located.stream().mapToInt(each -> expected.get(each.mapId()).length).sum());
    located.forEach(each -> all.put(expected.get(each.mapId())));
    return all.array();
  }

  private NodeReader open(String secret) throws NodeReadException {
    return open(secret, port);
  }

  private NodeReader open(String secret, int nodePort) throws NodeReadException {
    return open(secret, nodePort, Map.of());
  }

  private NodeReader open(String secret, int nodePort, Map<String, String> more)
      throws NodeReadException {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("sluice.mapreduce.home", "/opt/sluice");
    settings.put("sluice.mapreduce.port", Integer.toString(nodePort));
    settings.put("sluice.mapreduce.provider", provider());
    return new JobReaderFactory()
        .open(JOB, secret, "attempt_1700000000000_0012_r_000001_0", PARTITION, settings);
  }

  /** Starts the daemon, and tells it the job as YARN's auxiliary service does. */
  private void start() throws IOException {
    daemon = NodeDaemon.start(NodeOptions.of(options));
    Path folder = directory.resolve(".sluice").resolve(JOB);
    if (Files.notExists(folder)) {
      Files.createDirectory(folder, permissions("rwx------"));
      Properties job = new Properties();
      job.setProperty("secret", SECRET);
      job.setProperty("user", "user");
      job.setProperty("checkOwner", "false");
      Files.createFile(folder.resolve("job"), permissions("rw-------"));
      try (Writer writer = Files.newBufferedWriter(folder.resolve("job"))) {
        job.store(writer, null);
      }
    }
  }

  /** Netty closes a listening socket a moment after it was told to. */
  private void awaitFreePort() throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (true) {
      try (ServerSocket socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(HOST, port));
        return;
      } catch (IOException e) {
        assertThat(System.nanoTime() - deadlineNanos).as("the port is taken").isNegative();
        Thread.sleep(10);
      }
    }
  }

  private static FileAttribute<?> permissions(String allowed) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(allowed));
  }

  private Path output(long mapId) {
    String attempt =
        "attempt_1700000000000_0012_m_%06d_%d".formatted(mapId >>> Integer.SIZE, (int) mapId);
    return directory
        .resolve("usercache/user/appcache")
        .resolve(APPLICATION)
        .resolve("output")
        .resolve(attempt);
  }

  /** Writes map outputs with partitions of random bytes; raw lengths are a byte more. */
  private long[] write(int maps, int bytes) throws IOException {
    List<Long> ids = new ArrayList<>();
    for (int map = 0; map < maps; map++) {
      long id = (long) map << Integer.SIZE;
      ids.add(id);
      Path folder = Files.createDirectories(output(id));
      ByteBuffer data = ByteBuffer.allocate(REDUCERS * bytes);
      ByteBuffer index = ByteBuffer.allocate(REDUCERS * 3 * Long.BYTES + Long.BYTES);
      for (int partition = 0; partition < REDUCERS; partition++) {
        byte[] block = new byte[bytes];
        random.nextBytes(block);
        index.putLong(data.position()).putLong(bytes + 1).putLong(bytes);
        data.put(block);
        if (partition == PARTITION) {
          expected.put(id, block);
        }
      }
      CRC32 crc = new CRC32();
      crc.update(index.array(), 0, index.position());
      index.putLong(crc.getValue());
      Files.write(folder.resolve("file.out"), data.array());
      Files.write(folder.resolve("file.out.index"), index.array());
    }
    return ids.stream().mapToLong(Long::longValue).toArray();
  }

  private static void damage(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[8] ^= 1;
    Files.write(file, bytes);
  }
}
