// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.handover.FileTree;
import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.ExternalBlockStoreClient;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Permission to hand over and to read. */
class NodeHandOverTest extends NodeDaemonTestCase {
  @Test
  void anotherSecretGetsNeitherInNorALocation() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET);
        NodeReader stranger = new NodeReader(APPLICATION, "of another one");
        NodeReader nobody = new NodeReader(APPLICATION, "")) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      PeerAddress node = executor.endpoint().peer();

      assertThatThrownBy(() -> enter(APPLICATION, "of another one"))
          .hasMessageContaining("the secret is not that of application app-1-ab");
      assertThatThrownBy(() -> stranger.locate(node, SHUFFLE, 10)).isInstanceOf(Exception.class);
      assertThatThrownBy(() -> nobody.locate(node, SHUFFLE, 10)).isInstanceOf(Exception.class);
      assertThatThrownBy(() -> nobody.tell(node, new EndApplication()))
          .isInstanceOf(Exception.class);
      assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"spark.network.crypto.enabled", "spark.authenticate.enableSaslEncryption"})
  void aReaderThatEncryptsIsUnderstood(String key) throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET, Map.of(key, "true"))) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @Test
  void aKeyOfAnotherApplicationsRegionIsRefused() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    byte[] others = outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeClient other = enter(OTHER, "of the other");
        NodeReader reader = new NodeReader(APPLICATION, SECRET);
        NodeReader intruder = new NodeReader(OTHER, "of the other")) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      other.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
      RemoteRegion region = reader.locate(executor.endpoint().peer(), SHUFFLE, 10).data();
      assertThat(reader.read(executor.endpoint().peer(), region)).isEqualTo(data);

      assertThat(intruder.read(other.endpoint().peer(), SHUFFLE, 11)).isEqualTo(others);
      assertThatThrownBy(() -> intruder.read(other.endpoint().peer(), region))
          .cause()
          .isInstanceOf(ReadException.class);
      assertThatThrownBy(
              () ->
                  intruder.read(
                      new PeerAddress(
                          executor.endpoint().peer().id(),
                          "127.0.0.1",
                          executor.endpoint().peer().port()),
                      region))
          .as("at the application's own port")
          .cause()
          .isInstanceOf(ReadException.class);
      assertThat(intruder.locate(other.endpoint().peer(), SHUFFLE, 10)).isNull();
    }
  }

  @Test
  void dataOnAnotherFileSystemIsRefusedWithTheReason() throws Exception {
    Path shared = Path.of("/dev/shm");
    assumeTrue(Files.isWritable(shared) && !store(shared).equals(store(directory)));
    start();
    Path elsewhere = Files.createTempDirectory(shared, "sluice");
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      TestMapOutputs theirs = new TestMapOutputs(elsewhere);
      theirs.write(SHUFFLE, 10, 1_000);
      assertThatThrownBy(() -> executor.handOver(SHUFFLE, 10, theirs.find(SHUFFLE, 10)))
          .hasMessageContaining("cannot be linked into any folder of the node daemon")
          .hasMessageContaining("cross-device");
      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/{.tmp,5}-*");
    } finally {
      FileTree.delete(elsewhere);
    }
  }

  @Test
  void anExecutorWithoutTheNodesMountIsRefusedWithTheReason() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      FileTree.delete(folder(APPLICATION)); // Like a pod that has an emptyDir instead.
      assertThatThrownBy(() -> executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10)))
          .hasMessageContaining("one of them has to be in the same mount")
          .hasMessageContaining(folder(APPLICATION) + " does not exist for this process");
    }
  }

  @Test
  void anExecutorThatHasOneOfTwoMountsUsesThatOne() throws Exception {
    Path second = Files.createDirectory(directory.resolve("second"));
    set(NodeSettings.DIRECTORIES, directory.resolve("node") + "," + second);
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      FileTree.delete(folder(APPLICATION)); // Like a pod without the first mount.
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    }
    assertThat(second.resolve(".sluice").resolve(APPLICATION).resolve(SHUFFLE + "-10")).exists();
  }

  @Test
  void aFullFileSystemRefusesHandOversAndKeepsItsMapOutputs() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
    }
    daemon.close();
    set(NodeSettings.MIN_FREE_BYTES, "1000t");
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      assertThatThrownBy(() -> executor.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11)))
          .hasMessageContaining("bytes are free on the file system")
          .hasMessageContaining("sluice.node.minFreeBytes");
      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/{.tmp-*,5-11}");
      assertRefreshIsRefusedInSilence(executor);
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  /** Executors ask every ten seconds, and before their tasks, if there is room again. */
  private static void assertRefreshIsRefusedInSilence(NodeClient executor) {
    try (LogCapture log = new LogCapture(ConnectionLog.class, Level.WARN)) {
      assertThatThrownBy(executor::refresh).hasMessageContaining("sluice.node.minFreeBytes");
      assertThat(log.messages()).isEmpty();
    }
  }

  @Test
  void withoutADeviceVerbsFailsAndAutoTakesSoft() throws Exception {
    assumeFalse(
        Files.isDirectory(Path.of("/sys/class/infiniband")), "this machine has an RDMA device");
    set(NodeSettings.PROVIDER, "verbs");
    assertThatThrownBy(this::start)
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("/sys/class/infiniband");
    set(NodeSettings.PROVIDER, "auto");
    start();
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      assertThat(executor.endpoint().provider()).isEqualTo("soft");
    }
  }

  @Test
  void oneExecutorTooManyIsRefused() throws Exception {
    set(NodeSettings.MAX_EXECUTORS, "1");
    start();
    try (NodeClient _ = enter(APPLICATION, SECRET)) {
      assertThatThrownBy(() -> enter(APPLICATION, SECRET))
          .hasMessageContaining("1 executors are connected already")
          .hasMessageContaining("sluice.node.maxExecutors");
    }
  }

  @Test
  void oneMapOutputTooManyIsRefusedAndLeavesNothing() throws Exception {
    set(NodeSettings.MAX_MAP_OUTPUTS, "1");
    assertOneIsTakenAndTheNextRefused("sluice.node.maxMapOutputs");
  }

  @Test
  void oneByteTooManyIsRefusedAndLeavesNothing() throws Exception {
    set(NodeSettings.MAX_BYTES, "1999");
    assertOneIsTakenAndTheNextRefused("sluice.node.maxBytes");
  }

  /** A limit counts all applications, and admits again when there is room. */
  private void assertOneIsTakenAndTheNextRefused(String key) throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeClient other = enter(OTHER, SECRET);
        NodeReader driver = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThatThrownBy(() -> other.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11)))
          .hasMessageContaining(key);
      assertThat(folder(OTHER)).isDirectoryNotContaining("glob:**/{.tmp-*,5-11}");

      driver.tell(executor.endpoint().peer(), new RemoveShuffle(SHUFFLE));
      other.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
    }
  }

  @Test
  void aDrainedNodeRefusesNewApplicationsAndGoesOnForItsOwn() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    byte[] data = outputs.write(SHUFFLE, 11, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      Files.createFile(directory.resolve("drain"));

      assertThatThrownBy(() -> enter(OTHER, SECRET))
          .hasMessageContaining("the node daemon is draining")
          .hasMessageContaining("drain exists");
      executor.refresh();
      executor.handOver(SHUFFLE, 11, outputs.find(SHUFFLE, 11));
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 11)).isEqualTo(data);
      enter(APPLICATION, SECRET).close();

      Files.delete(directory.resolve("drain"));
      enter(OTHER, SECRET).close();
    }
  }

  @Test
  void anExecutorOfTheVersionBeforeHandsOverAndIsServed() throws Exception {
    Path second = Files.createDirectory(directory.resolve("second"));
    set(NodeSettings.DIRECTORIES, directory.resolve("node") + "," + second);
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeChannel executor = NodeChannel.connect(socket);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.send(
          new RegisterExecutor(
              RegisterExecutor.PREVIOUS, new ProcessName(APPLICATION, "3"), SECRET));
      Registered entered = (Registered) executor.receive();
      new ApplicationFolder(Path.of(entered.folders().getLast()))
          .commit(SHUFFLE, 10, outputs.find(SHUFFLE, 10));

      executor.send(new HandOver(SHUFFLE, 10, 1));
      assertThat(executor.receive()).isEqualTo(new Accepted());

      PeerAddress node = new PeerAddress(entered.nodeId(), entered.host(), entered.port());
      NodeResponse heard = reader.tell(node, new Renew(NodeResponse.NEVER, new int[] {SHUFFLE}));
      assertThat(heard.keeps(entered.nodeId())).isTrue();
      assertThat(reader.read(node, SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @ParameterizedTest
  @CsvSource({"3, Sluice in the application", "6, the node daemon"})
  void anotherVersionOfTheProtocolIsRefusedWithTheSideToUpgrade(int version, String side)
      throws Exception {
    start();
    try (NodeChannel channel = NodeChannel.connect(socket)) {
      channel.send(new RegisterExecutor(version, new ProcessName(APPLICATION, "3"), SECRET));
      assertThat(channel.receive())
          .isEqualTo(
              new Refused(
                  "the executor speaks version %d of the protocol,".formatted(version)
                      + " the node daemon versions 4 and 5; upgrade "
                      + side));
    }
  }

  @Test
  void oneApplicationTooManyIsRefused() throws Exception {
    set(NodeSettings.MAX_APPLICATIONS, "1");
    start();
    enter(APPLICATION, SECRET).close();
    enter(APPLICATION, SECRET).close();
    assertThatThrownBy(() -> enter(OTHER, SECRET))
        .hasMessageContaining("the node already serves 1 applications")
        .hasMessageContaining("sluice.node.maxApplications");
  }

  @Test
  void aNameThatIsNotAFolderIsRefused() throws Exception {
    start();
    assertThatThrownBy(() -> enter("../app-1", SECRET)).hasMessageContaining("../app-1");
    assertThat(directory.resolve("node/app-1")).doesNotExist();
  }

  @Test
  void mapOutputsWithoutRoomAreStaged() throws Exception {
    set(NodeSettings.MAX_APPLICATIONS, Integer.toString(Integer.MAX_VALUE)); // leaves no region
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      PeerAddress node = executor.endpoint().peer();
      assertThat(reader.isRegistered(node, SHUFFLE, 10)).isFalse();
      assertThat(reader.readStaged(node, SHUFFLE, 10, 1, 1_000)).isEqualTo(data);
      assertThat(metric(APPLICATION, NodeMetric.REGISTERED_REGIONS)).isZero();
    }
  }

  @Test
  void aMapOutputWithoutBytesIsNotHandedOver() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 0, 0);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(metric(APPLICATION, NodeMetric.MAP_OUTPUTS)).isZero();
    }
  }

  @Test
  void aTruncatedMapOutputIsRefusedAndLeavesNothing() throws Exception {
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    Files.write(outputs.data(SHUFFLE, 10), new byte[999]);
    try (NodeClient executor = enter(APPLICATION, SECRET)) {
      assertThatThrownBy(() -> executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10)))
          .hasMessageContaining("has 999 bytes, but its index describes 1000");
      assertThat(folder(APPLICATION)).isDirectoryNotContaining("glob:**/{.tmp-*,5-10}");
    }
  }

  @Test
  void aMapOutputThatIsHandedOverTwiceIsThereOnce() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 1_000);
    MapOutputFiles.Files files = outputs.find(SHUFFLE, 10);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, files);
      executor.handOver(SHUFFLE, 10, files);
      assertThat(metric(APPLICATION, NodeMetric.BYTES)).isEqualTo(1_000);
      assertThat(reader.read(executor.endpoint().peer(), SHUFFLE, 10)).isEqualTo(data);
    }
  }

  @Test
  void sparksOwnTransferFetchesBlocksThatAreNotRead() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 300, 0, 700, 5);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        ExternalBlockStoreClient spark = sparkClient("app-1", SECRET);
        ExternalBlockStoreClient stranger = sparkClient("app-1", "of another one")) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      PeerAddress node = executor.endpoint().peer();

      assertThat(fetch(spark, node, "shuffle_5_10_2").get(WAIT_S, TimeUnit.SECONDS))
          .isEqualTo(Arrays.copyOfRange(data, 300, 1_000));
      assertThat(fetch(spark, node, "shuffle_5_10_0_4").get(WAIT_S, TimeUnit.SECONDS))
          .as("a batch")
          .isEqualTo(data);
      assertThatThrownBy(() -> fetch(spark, node, "shuffle_5_11_0").get(WAIT_S, TimeUnit.SECONDS))
          .hasMessageContaining("This node does not have map output 11 of shuffle 5");
      assertThatThrownBy(
              () -> fetch(stranger, node, "shuffle_5_10_2").get(WAIT_S, TimeUnit.SECONDS))
          .isInstanceOf(Exception.class);
    }
  }

  /** Spark's readers ask for a diagnosis when they cannot decode a block. */
  @Test
  void whereABlockWasDamagedIsDiagnosed() throws Exception {
    start();
    byte[] data = outputs.write(SHUFFLE, 10, 300, 700);
    long checksum = TestMapOutputs.checksum(data, 300, 700);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        ExternalBlockStoreClient spark = sparkClient("app-1", SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      PeerAddress node = executor.endpoint().peer();

      assertThat(diagnose(spark, node, checksum)).isEqualTo(Cause.CHECKSUM_VERIFY_PASS);
      assertThat(diagnose(spark, node, checksum + 1)).isEqualTo(Cause.NETWORK_ISSUE);
      try (RandomAccessFile file = new RandomAccessFile(outputs.data(SHUFFLE, 10).toFile(), "rw")) {
        file.seek(400);
        file.write(~data[400]);
      }
      assertThat(diagnose(spark, node, checksum)).isEqualTo(Cause.DISK_ISSUE);
    }
  }

  private static Cause diagnose(ExternalBlockStoreClient client, PeerAddress node, long checksum) {
    return client.diagnoseCorruption(
        node.host(), node.port(), "3", SHUFFLE, 10, 1, checksum, "CRC32C");
  }

  private static ExternalBlockStoreClient sparkClient(String application, String secret) {
    TransportConf conf =
        new TransportConf(
            "shuffle", new MapConfigProvider(Map.of("spark.shuffle.io.maxRetries", "0")));
    ExternalBlockStoreClient client =
        new ExternalBlockStoreClient(conf, new ApplicationSecret(secret), true, 5_000);
    client.init(application);
    return client;
  }

  private static CompletableFuture<byte[]> fetch(
      ExternalBlockStoreClient client, PeerAddress node, String block) {
    CompletableFuture<byte[]> fetched = new CompletableFuture<>();
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
            try {
              ByteBuffer bytes = buffer.nioByteBuffer();
              byte[] copy = new byte[bytes.remaining()];
              bytes.get(copy);
              fetched.complete(copy);
            } catch (IOException e) {
              fetched.completeExceptionally(e);
            }
          }

          @Override
          public void onBlockFetchFailure(String blockId, Throwable e) {
            fetched.completeExceptionally(e);
          }
        };
    client.fetchBlocks(node.host(), node.port(), "3", new String[] {block}, listener, null);
    return fetched;
  }

  @Test
  void heldMapOutputsAreOnTheMetricsPages() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    set(NodeSettings.HTTP, "127.0.0.1:" + port);
    start();
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        HttpClient http = HttpClient.newHttpClient()) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(get(http, port, "/metrics"))
          .contains("sluice_node_applications 1.0\n")
          .contains("# TYPE sluice_node_application_bytes gauge\n")
          .contains("sluice_node_application_bytes{application=\"app-1-ab\"} 1000.0\n")
          .doesNotContain(SECRET);
      assertThat(get(http, port, "/healthz")).isEqualTo("ok\n");
      Files.createFile(directory.resolve("drain"));
      assertThat(get(http, port, "/healthz")).isEqualTo("draining\n");
      assertThat(get(http, port, "/metrics")).contains("sluice_node_draining 1.0\n");
      assertThat(get(http, port, "/"))
          .contains("app-1-ab")
          .contains("soft0")
          .doesNotContain(SECRET);
    }
  }

  private static String get(HttpClient http, int port, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(TIMEOUT)
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }
}
