// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static dev.sluice.node.JobFixture.mapId;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.handover.FileTree;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.Poll;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.ChunkReceivedCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.shuffle.protocol.BlockTransferMessage;
import org.apache.spark.network.shuffle.protocol.FetchShuffleBlocks;
import org.apache.spark.network.shuffle.protocol.OpenBlocks;
import org.apache.spark.network.shuffle.protocol.UploadBlock;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** MapReduce jobs at a daemon, and the port at which their readers find them. */
@Timeout(120)
class NodeJobTest extends NodeDaemonTestCase {
  private static final int PARTITIONS = 3;
  private static final TransportConf SPARK =
      new TransportConf("shuffle", new MapConfigProvider(Map.of()));

  private Path disk1;
  private Path disk2;
  private PeerAddress jobPort;
  private JobFixture job;
  private JobFixture other;

  @BeforeEach
  void configure() throws Exception {
    disk1 = directory.resolve("node");
    disk2 = Files.createDirectory(directory.resolve("node2"));
    set(NodeSettings.DIRECTORIES, disk1 + "," + disk2);
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      set(NodeSettings.MAPREDUCE_PORT, Integer.toString(free.getLocalPort()));
      jobPort = new PeerAddress("job-port", "127.0.0.1", free.getLocalPort());
    }
    String user = System.getProperty("user.name");
    job = new JobFixture("application_1700000000000_0001", user, List.of(disk1, disk2));
    other = new JobFixture("application_1700000000000_0002", user, List.of(disk1, disk2));
  }

  private NodeReader reader() throws Exception {
    return new NodeReader(job.name(), JobFixture.SECRET);
  }

  private static PeerAddress node(Registered found) {
    return new PeerAddress(found.nodeId(), found.host(), found.port());
  }

  /** Netty closes a listening socket a moment after the daemon is closed. */
  private void stop() throws Exception {
    daemon.close();
    while (isOpen(jobPort.port())) {
      Thread.sleep(20);
    }
  }

  @Test
  void aReaderReadsWhatMapTasksLeft() throws Exception {
    start();
    job.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100, 20, 3_000);
    byte[] apart = job.write(disk2, disk1, 1_000_000, 2, 50, 60, 70);
    try (NodeReader reader = reader()) {
      Registered found = reader.findJob(jobPort, job.name());
      assertThat(found.folders()).isEmpty();
      assertThat(found.provider()).isEqualTo("soft");
      PeerAddress node = node(found);
      assertThat(reader.isRegistered(node, JobFiles.SHUFFLE, mapId(7, 0))).isTrue();
      MapOutputHeader header = reader.locate(node, JobFiles.SHUFFLE, mapId(7, 0));
      assertThat(header.checksumAlgorithm()).isEqualTo(ChecksumAlgorithm.NONE);
      assertThat(reader.read(node, header.data())).isEqualTo(data);
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(1_000_000, 2))).isEqualTo(apart);

      assertThat(reader.locate(node, JobFiles.SHUFFLE, mapId(7, 1))).isNull();
      assertThat(reader.locate(node, JobFiles.SHUFFLE, mapId(8, 0))).isNull();
      assertThat(reader.locate(node, SHUFFLE, mapId(7, 0))).isNull();
      assertThat(reader.findJob(jobPort, job.name())).isEqualTo(found);
    }
    assertThat(metric(job.name(), NodeMetric.REGISTERED_OUTPUTS)).isEqualTo(2);
    assertThat(metric(job.name(), NodeMetric.MAP_OUTPUTS)).isZero();
  }

  /** Spark has two protocols of authentication; SASL is the default. */
  @Test
  void aReaderThatEncryptsIsUnderstood() throws Exception {
    start();
    job.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    Map<String, String> network = Map.of("spark.network.crypto.enabled", "true");
    try (NodeReader reader = new NodeReader(job.name(), JobFixture.SECRET, network);
        NodeReader wrong = new NodeReader(job.name(), "d3Jvbmc=", network)) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
      assertThatThrownBy(() -> wrong.findJob(jobPort, job.name())).isNotNull();
    }
  }

  /** Spark's own transfer has no job. */
  @Test
  void fetchesOfSparkAreRefused() throws Exception {
    start();
    job.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    List<BlockTransferMessage> fetches =
        List.of(
            new OpenBlocks(job.name(), "0", new String[] {"shuffle_0_7_0"}),
            new FetchShuffleBlocks(
                job.name(), "0", 0, new long[] {mapId(7, 0)}, new int[][] {{0}}, false),
            new UploadBlock(job.name(), "0", "shuffle_0_7_0", new byte[0], new byte[100]));
    try (NodeReader reader = reader();
        TransportContext context = new TransportContext(SPARK, new NoOpRpcHandler());
        TransportClientFactory factory =
            context.createClientFactory(List.of(job.authentication(SPARK)))) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      TransportClient client = factory.createClient(jobPort.host(), jobPort.port());
      for (BlockTransferMessage fetch : fetches) {
        assertThatThrownBy(() -> client.sendRpcSync(fetch.toByteBuffer(), 10_000))
            .hasMessageContaining(MessageException.class.getName());
      }
      CompletableFuture<ManagedBuffer> chunk = new CompletableFuture<>();
      client.fetchChunk(
          0,
          0,
          new ChunkReceivedCallback() {
            @Override
            public void onSuccess(int index, ManagedBuffer buffer) {
              chunk.complete(buffer);
            }

            @Override
            public void onFailure(int index, Throwable e) {
              chunk.completeExceptionally(e);
            }
          });
      assertThat(chunk).failsWithin(WAIT_S, TimeUnit.SECONDS);
      assertThat(client.isActive()).isTrue();
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
    }
  }

  private static void assertTable(long[] table, int... lengths) {
    long offset = 0;
    for (int i = 0; i < lengths.length; i++) {
      long first = table[MapOutputHeader.LONGS + 2 * i];
      long second = table[MapOutputHeader.LONGS + 2 * i + 1];
      assertThat(TableEntry.offset(first)).isEqualTo(offset);
      assertThat(TableEntry.length(first, second)).isEqualTo(lengths[i]);
      assertThat(TableEntry.checksum(second)).as("raw length").isEqualTo(10L * lengths[i]);
      offset += lengths[i];
    }
  }

  @Test
  void theTableOfARegisteredMapOutputIsAnsweredWithoutACopy() throws Exception {
    start();
    job.announce(false);
    job.write(disk1, disk1, 7, 0, 100, 20, 3_000);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.isRegistered(node, JobFiles.SHUFFLE, mapId(7, 0))).isTrue();
      Staged tables = reader.stage(node, JobFiles.SHUFFLE, mapId(7, 0), PARTITIONS, 0);
      assertThat(tables.region().length()).isZero();
      assertTable(tables.tables().getFirst(), 100, 20, 3_000);
      MapOutputHeader header = MapOutputHeader.of(mapId(7, 0), tables.tables().getFirst(), 0);
      assertThat(header.isStaged()).isFalse();
    }
  }

  @Test
  void aMapOutputWithoutRoomIsStaged() throws Exception {
    set(NodeSettings.MAX_APPLICATIONS, Integer.toString(Integer.MAX_VALUE)); // leaves no region
    start();
    job.announce(true);
    byte[] data = job.write(disk2, disk1, 7, 0, 100, 20, 3_000);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.isRegistered(node, JobFiles.SHUFFLE, mapId(7, 0))).isFalse();
      Staged tables = reader.stage(node, JobFiles.SHUFFLE, mapId(7, 0), PARTITIONS, 0);
      assertThat(tables.region().length()).isZero();
      assertTable(tables.tables().getFirst(), 100, 20, 3_000);
      assertThat(MapOutputHeader.of(mapId(7, 0), tables.tables().getFirst(), 0).isStaged())
          .isTrue();
      assertThat(reader.readStaged(node, JobFiles.SHUFFLE, mapId(7, 0), PARTITIONS, 1 << 20))
          .isEqualTo(data);
      assertThat(reader.readStaged(node, JobFiles.SHUFFLE, mapId(7, 0), 1, 1 << 20))
          .isEqualTo(Arrays.copyOf(data, 100));
    }
  }

  @Test
  void onlyWhoHasTheSecretFindsAJob() throws Exception {
    start();
    job.announce(true);
    other.announce(true);
    try (NodeReader wrong = new NodeReader(job.name(), "d3Jvbmc=");
        NodeReader none = new NodeReader(job.name(), "");
        NodeReader foreign = reader()) {
      assertThatThrownBy(() -> wrong.findJob(jobPort, job.name())).isNotNull();
      assertThatThrownBy(() -> none.findJob(jobPort, job.name())).isNotNull();
      assertThatThrownBy(() -> foreign.findJob(jobPort, other.name()))
          .hasMessageContaining("the reader is one of " + job.name());
    }
    assertThat(daemon.applications()).isEmpty();
  }

  @Test
  void aReaderReachesNoOtherJob() throws Exception {
    start();
    job.announce(true);
    other.announce(true);
    other.write(disk1, disk1, 7, 0, 100);
    try (NodeReader reader = reader();
        NodeReader foreign = reader();
        NodeReader ofOther = new NodeReader(other.name(), JobFixture.SECRET)) {
      PeerAddress node = node(ofOther.findJob(jobPort, other.name()));
      assertRefused(foreign, node); // its first message
      reader.findJob(jobPort, job.name());
      assertRefused(reader, node);
      assertThat(metric(other.name(), NodeMetric.REGISTERED_OUTPUTS)).isZero();
      assertThat(isServed(ofOther, node, 7)).isTrue();
    }
  }

  private static void assertRefused(NodeReader reader, PeerAddress node) {
    assertThat(reader.resolve(node, JobFiles.SHUFFLE, mapId(7, 0)))
        .failsWithin(WAIT_S, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining("this is ");
  }

  @Test
  void aJobThatTheNodeDoesNotHaveIsRefused() throws Exception {
    start();
    assertThatThrownBy(
            () -> {
              try (NodeReader reader = reader()) {
                reader.findJob(jobPort, job.name());
              }
            })
        .isNotNull();
    job.announce(true); // The daemon looks again after a moment.
    while (!isFound()) {
      Thread.sleep(100);
    }
  }

  private boolean isFound() throws Exception {
    try (NodeReader reader = reader()) {
      reader.findJob(jobPort, job.name());
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }

  @Test
  void aJobWithoutMapOutputsIsServed() throws Exception {
    start();
    job.announce(true);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.locate(node, JobFiles.SHUFFLE, mapId(0, 0))).isNull();
      byte[] data = job.write(disk1, disk1, 0, 0, 10);
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(0, 0))).isEqualTo(data);
    }
  }

  @Test
  void aDamagedFileOfAJobIsNotServed() throws Exception {
    start();
    job.announce(true);
    for (Path disk : job.directories()) {
      Files.writeString(JobFixture.folder(disk, job.name()).resolve("job"), "user=../root");
    }
    try (NodeReader reader = reader()) {
      assertThatThrownBy(() -> reader.findJob(jobPort, job.name())).isNotNull();
    }
    daemon.close();
    start();
    assertThat(daemon.applications()).isEmpty();
  }

  /** The daemon may start after the first task, and once more while readers READ. */
  @Test
  void aRestartedDaemonServesTheJob() throws Exception {
    job.announce(true);
    other.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    start();
    Registered before;
    try (NodeReader reader = reader()) {
      before = reader.findJob(jobPort, job.name());
    }
    stop();
    start();
    try (NodeReader reader = reader()) {
      Registered found = reader.findJob(jobPort, job.name());
      assertThat(found.nodeId()).isNotEqualTo(before.nodeId());
      assertThat(reader.read(node(found), JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
    }
    try (NodeReader reader = new NodeReader(other.name(), JobFixture.SECRET)) {
      reader.findJob(jobPort, other.name());
    }
  }

  /** Has a daemon serve the job with one map output, and ends the daemon. */
  private byte[] serveOnce() throws Exception {
    job.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    start();
    try (NodeReader reader = reader()) {
      reader.findJob(jobPort, job.name());
    }
    stop();
    return data;
  }

  @Test
  void afterARebootAJobIsFoundAgain() throws Exception {
    byte[] data = serveOnce();
    for (Path disk : job.directories()) {
      Path state = JobFixture.folder(disk, job.name()).resolve(".application");
      Files.writeString(
          state, Files.readString(state).replaceFirst("(?m)^boot=.*$", "boot=another"));
    }
    start();
    assertThat(daemon.applications()).isEmpty();
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
    }
  }

  private void awaitNoFolder(JobFixture of) throws Exception {
    Poll.await(
        "the folders of " + of.name() + " are deleted",
        WAIT,
        () ->
            of.directories().stream()
                .noneMatch(disk -> Files.exists(JobFixture.folder(disk, of.name()))));
  }

  @Test
  void anEndedJobIsRemovedButNotItsMapOutputs() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s");
    start();
    job.announce(true);
    other.announce(true);
    job.write(disk1, disk2, 7, 0, 100);
    try (NodeReader reader = reader();
        TransportContext context = new TransportContext(SPARK, new NoOpRpcHandler());
        TransportClientFactory factory =
            context.createClientFactory(List.of(job.authentication(SPARK)))) {
      reader.findJob(jobPort, job.name());
      TransportClient idle = factory.createClient(jobPort.host(), jobPort.port());
      ByteBuffer find =
          ByteBuffer.wrap(new MessageCodec(NodeMessages.TYPES).encode(new FindJob(job.name())));
      idle.sendRpcSync(find, TimeUnit.SECONDS.toMillis(WAIT_S));
      job.end();
      other.end(); // It never had a reader.
      awaitNoFolder(job);
      awaitNoFolder(other);
      assertThatThrownBy(() -> reader.findJob(jobPort, job.name())).isNotNull();
      assertThat(idle.getChannel().closeFuture().await(WAIT_S, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(daemon.applications()).isEmpty();
    assertThat(job.output(disk1, 7, 0).resolve("file.out")).hasSize(100);
    assertThat(job.output(disk2, 7, 0).resolve("file.out.index")).exists();
  }

  @Test
  void aJobEndsWithItsFilesIfYarnDoesNotSaySo() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s");
    start();
    job.announce(true);
    other.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    other.write(disk1, disk1, 7, 0, 100);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      Thread.sleep(2_500); // longer than an application of Spark may be silent
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
      assertThat(JobFixture.folder(disk1, other.name())).exists();
      FileTree.delete(job.files(disk1));
      FileTree.delete(other.files(disk1));
      awaitNoFolder(job);
      awaitNoFolder(other);
    }
  }

  /** YARN uses a disk that was replaced, or has answered late, from then on. */
  @Test
  void mapOutputsInADirectoryThatComesAfterTheFirstReaderAreServed() throws Exception {
    Path late = directory.resolve("node3");
    set(NodeSettings.DIRECTORIES, disk1 + "," + disk2 + "," + late);
    start();
    job.announce(true);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      Files.createDirectory(late);
      byte[] data = job.write(late, late, 7, 0, 100, 20, 3_000);
      assertThat(reader.isRegistered(node, JobFiles.SHUFFLE, mapId(7, 0)))
          .as("the daemon has no folder there, in which to try registering")
          .isFalse();
      assertThat(reader.readStaged(node, JobFiles.SHUFFLE, mapId(7, 0), PARTITIONS, 1 << 20))
          .isEqualTo(data);
    }
  }

  private boolean isServed(NodeReader reader, PeerAddress node, int task) throws Exception {
    return reader.resolve(node, JobFiles.SHUFFLE, mapId(task, 0)).get(WAIT_S, TimeUnit.SECONDS)
        != null;
  }

  /** The job's user could have the daemon read files that only the daemon's user may read. */
  @Test
  void noLinkLeadsOutOfTheJobsFolder() throws Exception {
    start();
    job.announce(false);
    Path secret = directory.resolve("secret");
    for (int task = 0; task < 6; task++) {
      job.write(disk1, disk1, task, 0, 100);
    }
    Path file = job.output(disk1, 1, 0).resolve("file.out");
    Files.move(file, secret);
    Files.createSymbolicLink(file, secret);

    Path index = job.output(disk1, 2, 0).resolve("file.out.index");
    Files.move(index, directory.resolve("index"));
    Files.createSymbolicLink(index, directory.resolve("index"));

    Path folder = job.output(disk1, 3, 0);
    Files.move(folder, directory.resolve("folder"));
    Files.createSymbolicLink(folder, directory.resolve("folder"));

    Files.delete(job.output(disk1, 4, 0).resolve("file.out"));
    String pipe = job.output(disk1, 4, 0).resolve("file.out").toString();
    assertThat(new ProcessBuilder("mkfifo", pipe).start().waitFor()).isZero();
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(isServed(reader, node, 0)).isTrue();
      for (int task = 1; task < 5; task++) {
        assertThat(isServed(reader, node, task)).as("task %d", task).isFalse();
      }
      assertThat(isServed(reader, node, 5)).isTrue();
    }
  }

  /** The registration has checked the files; staging opens them again. */
  @Test
  void aStagedMapOutputIsCheckedEachTimeThatItIsOpened() throws Exception {
    set(NodeSettings.MAX_APPLICATIONS, Integer.toString(Integer.MAX_VALUE)); // leaves no region
    start();
    job.announce(false);
    job.write(disk1, disk1, 7, 0, 100);
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.isRegistered(node, JobFiles.SHUFFLE, mapId(7, 0))).isFalse();
      Path file = job.output(disk1, 7, 0).resolve("file.out");
      Files.move(file, directory.resolve("secret"));
      Files.createSymbolicLink(file, directory.resolve("secret"));
      assertThatThrownBy(() -> reader.readStaged(node, JobFiles.SHUFFLE, mapId(7, 0), 1, 1 << 20))
          .isInstanceOf(ClassCastException.class) // NotStaged
          .hasMessageContaining("NotStaged");
    }
  }

  @Test
  void filesOfAnotherUserAreNotServedIfOwnersAreChecked() throws Exception {
    assumeTrue(
        System.getProperty("user.name").equals("root"), "only root can change a file's owner");
    start();
    job.announce(true);
    other.announce(false);
    for (JobFixture each : List.of(job, other)) {
      each.write(disk1, disk1, 0, 0, 100);
      each.write(disk1, disk1, 1, 0, 100);
      Files.setAttribute(each.output(disk1, 1, 0).resolve("file.out"), "unix:uid", 12_345);
    }
    try (NodeReader reader = reader();
        NodeReader ofOther = new NodeReader(other.name(), JobFixture.SECRET)) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(isServed(reader, node, 0)).isTrue();
      assertThat(isServed(reader, node, 1)).isFalse();
      assertThat(isServed(ofOther, node(ofOther.findJob(jobPort, other.name())), 1)).isTrue();
    }
  }

  @Test
  void executorsDoNotEnterAJob() throws Exception {
    start();
    job.announce(true);
    try (NodeReader reader = reader()) {
      reader.findJob(jobPort, job.name());
    }
    assertThatThrownBy(() -> enter(job.name(), JobFixture.SECRET).close())
        .hasMessageContaining("is a MapReduce job, which has no executors");
  }

  /** The executor would give the job its own secret. */
  @Test
  void noExecutorTakesTheNameOfAJobBeforeItsFirstReader() throws Exception {
    start();
    job.announce(true);
    byte[] data = job.write(disk1, disk1, 7, 0, 100);
    assertThatThrownBy(() -> enter(job.name(), "of the executor").close())
        .hasMessageContaining("is a MapReduce job, which has no executors");
    for (Path disk : job.directories()) {
      assertThat(JobFixture.folder(disk, job.name()).resolve(".application")).doesNotExist();
    }
    try (NodeReader reader = reader()) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
    }
  }

  /** An earlier release wrote a secret there, perhaps that of an executor. */
  @Test
  void afterARestartTheSecretIsThatOfTheJobsFile() throws Exception {
    byte[] data = serveOnce();
    for (Path disk : job.directories()) {
      Path state = JobFixture.folder(disk, job.name()).resolve(".application");
      assertThat(state).content().doesNotContain("secret");
      Files.writeString(state, "secret=d3Jvbmc=\n", StandardOpenOption.APPEND);
    }
    start();
    assertThat(daemon.applications()).hasSize(1);
    try (NodeReader reader = reader();
        NodeReader wrong = new NodeReader(job.name(), "d3Jvbmc=")) {
      PeerAddress node = node(reader.findJob(jobPort, job.name()));
      assertThat(reader.read(node, JobFiles.SHUFFLE, mapId(7, 0))).isEqualTo(data);
      assertThatThrownBy(() -> wrong.findJob(jobPort, job.name())).isNotNull();
    }
  }

  @Test
  void aDrainedDaemonServesNoFurtherJob() throws Exception {
    start();
    job.announce(true);
    other.announce(true);
    try (NodeReader reader = reader();
        NodeReader ofOther = new NodeReader(other.name(), JobFixture.SECRET)) {
      reader.findJob(jobPort, job.name());
      Files.createFile(directory.resolve("drain"));
      reader.findJob(jobPort, job.name());
      assertThatThrownBy(() -> ofOther.findJob(jobPort, other.name()))
          .hasMessageContaining("the node daemon is draining");
    }
  }

  /** A disk that hangs: opening the file waits for a process that writes to the pipe. */
  private void hangJobFiles() throws Exception {
    for (Path disk : job.directories()) {
      Path file = JobFixture.folder(disk, job.name()).resolve("job");
      Files.deleteIfExists(file);
      assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    }
  }

  /** Opens both ends of each pipe, so that neither open waits. */
  private void answerJobFiles() throws IOException {
    for (Path disk : job.directories()) {
      Files.newByteChannel(
              JobFixture.folder(disk, job.name()).resolve("job"),
              StandardOpenOption.READ,
              StandardOpenOption.WRITE)
          .close();
    }
  }

  @Test
  void aDiskThatHangsEndsInARefusal() throws Exception {
    start();
    job.announce(true);
    hangJobFiles();
    try (NodeReader reader = reader()) {
      assertThatThrownBy(() -> reader.findJob(jobPort, job.name())).isNotNull();
    } finally {
      answerJobFiles();
    }
  }

  @Test
  void readersOfAServedJobWaitForNoDisk() throws Exception {
    start();
    job.announce(true);
    try (NodeReader first = reader();
        NodeReader later = reader()) {
      first.findJob(jobPort, job.name());
      hangJobFiles();
      later.findJob(jobPort, job.name());
    } finally {
      answerJobFiles();
    }
  }

  @Test
  void aDaemonWhosePortIsTakenServesExecutorsAndLaterJobs() throws Exception {
    set(NodeSettings.EXPIRE_AFTER, "1s"); // tries the port ten times a second
    job.announce(true);
    job.write(disk1, disk1, 7, 0, 100);
    try (ServerSocket _ = new ServerSocket(jobPort.port(), 1, InetAddress.getByName("127.0.0.1"))) {
      start();
      try (NodeClient executor = enter(APPLICATION, SECRET)) {
        executor.refresh();
      }
    }
    Poll.await("the port is open", WAIT, () -> isOpen(jobPort.port()));
    try (NodeReader reader = reader()) {
      reader.findJob(jobPort, job.name());
    }
  }

  private static boolean isOpen(int port) throws Exception {
    try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    }
  }
}
