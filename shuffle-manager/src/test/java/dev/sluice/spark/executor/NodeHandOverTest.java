// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.driver.TrackedOutputs;
import dev.sluice.spark.locate.LocationDirectory;
import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.Tuple2;

/**
 * The manager in local mode with its node daemon, which runs in this process, too. The executor
 * READs its own map outputs as well.
 */
class NodeHandOverTest {
  private static final int MAPS = 4;
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir private Path directory;
  private NodeDaemon daemon;
  private JavaSparkContext context;

  @AfterEach
  void stop() {
    if (context != null) {
      context.close();
    }
    if (daemon != null) {
      daemon.close();
    }
  }

  private void startNode(String... settings) throws IOException {
    Map<String, String> options =
        new HashMap<>(
            Map.of(
                "sluice.node.directories", directory.toString(),
                "sluice.node.socket", socket(),
                "sluice.node.host", "127.0.0.1",
                "sluice.node.provider", "soft",
                "sluice.node.minFreeBytes", "1m",
                "sluice.node.http", ""));
    for (int i = 0; i < settings.length; i += 2) {
      options.put(settings[i], settings[i + 1]);
    }
    daemon = NodeDaemon.start(NodeOptions.of(options));
  }

  private String socket() {
    return directory.resolve("node.sock").toString();
  }

  private void startSpark() {
    context =
        new JavaSparkContext(
            new SparkConf(false)
                .setMaster("local[2]")
                .setAppName("test")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.local.dir", directory.resolve("local").toString())
                .set("spark.cleaner.referenceTracking", "false")
                .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
                .set("spark.shuffle.rdma.provider", "soft")
                .set("spark.shuffle.rdma.node", "on")
                .set("spark.shuffle.rdma.node.socket", socket())
                .set("spark.shuffle.rdma.testing.loopback", "true"));
  }

  @Test
  void mapOutputsAreReadWhenTheExecutorsOwnFilesAreGone() throws IOException {
    startNode();
    startSpark();
    JavaPairRDD<Integer, Iterable<Integer>> shuffled = shuffle(MAPS);
    assertRight(shuffled);
    for (long map = 0; map < MAPS; map++) {
      assertThat(manager().shuffleBlockResolver().getDataFile(0, map).delete()).isTrue();
    }

    assertRight(shuffled);

    assertThat(manager().shuffleBlockResolver().getDataFile(0, 0))
        .as("written again")
        .doesNotExist();
    assertThat(context.sc().shuffleDriverComponents().supportsReliableStorage()).isTrue();
  }

  @Test
  void endedShufflesLeaveTheNode() throws IOException {
    startNode();
    startSpark();
    assertRight(shuffle(MAPS));
    assertRight(shuffle(MAPS));
    assertThat(kept("0-")).hasSize(MAPS);
    assertThat(kept("1-")).hasSize(MAPS);

    assertThat(manager().unregisterShuffle(0)).isTrue();
    awaitNothingKept("0-");
    assertThat(kept("1-")).hasSize(MAPS);

    context.close();
    context = null;
    awaitNothingKept("");
  }

  @Test
  void mapOutputsWithoutBytesAreNotHandedOver() throws IOException {
    startNode();
    startSpark();
    assertThat(
            context
                .parallelize(List.<Integer>of(), MAPS)
                .mapToPair(number -> new Tuple2<>(number, number))
                .groupByKey(2)
                .count())
        .isZero();
    assertThat(kept("0-")).isEmpty();
  }

  @Test
  void mapOutputsThatTheNodeDoesNotTakeStayWithTheExecutor() throws IOException {
    startNode("sluice.node.minFreeBytes", "1000000g");
    startSpark();
    try (LogCapture log = new LogCapture(LocationDirectory.class, Level.WARN)) {
      assertRight(shuffle(MAPS));
      assertThat(log.messages())
          .as("warnings about one executor")
          .singleElement()
          .asString()
          .contains("sluice.node.minFreeBytes");
    }
    assertThat(kept("0-")).isEmpty();
  }

  @Test
  void sparkWritesUnregisteredMapOutputsOfOneExecutorAgain() throws IOException {
    startNode();
    startSpark();
    JavaPairRDD<Integer, Iterable<Integer>> shuffled = shuffle(MAPS);
    assertRight(shuffled);
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    TrackedOutputs outputs = new TrackedOutputs(tracker);

    assertThat(outputs.unregister("other", 0, Set.of(0L, 1L))).isZero();
    assertThat(outputs.unregister("driver", 7, Set.of(0L, 1L))).isZero();
    assertThat(outputs.unregister("driver", 0, Set.of(0L, 1L, 99L))).isEqualTo(2);
    assertThat(tracker.getNumAvailableOutputs(0)).isEqualTo(MAPS - 2);
    assertRight(shuffled);
    assertThat(tracker.getNumAvailableOutputs(0)).isEqualTo(MAPS);
  }

  /** Operators upgrade nodes first. */
  @Test
  void anExecutorThatIsNewerThanItsNodeGoesOnWithout() throws Exception {
    try (ServerSocketChannel node = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      node.bind(UnixDomainSocketAddress.of(socket()));
      CountDownLatch refused = new CountDownLatch(1);
      Thread.ofVirtual().start(() -> refuse(node, refused));
      startSpark();
      assertRight(shuffle(MAPS));
      refused.await();
    }
  }

  private static void refuse(ServerSocketChannel node, CountDownLatch refused) {
    while (node.isOpen()) {
      try (SocketChannel executor = node.accept()) {
        byte[] answer =
            new MessageCodec(List.of(ControlMessages.REFUSED))
                .encode(new Refused("the executor speaks version 3 of the protocol"));
        executor.read(ByteBuffer.allocate(1));
        executor.write(
            ByteBuffer.allocate(Integer.BYTES + answer.length)
                .putInt(answer.length)
                .put(answer)
                .flip());
        refused.countDown();
        executor.read(ByteBuffer.allocate(1_000)); // waits until the executor has gone
      } catch (IOException _) {
        // The executor or the test has ended.
      }
    }
  }

  @Test
  void aNodeThatWasStartedAgainIsEnteredAndReadAgain() throws IOException {
    startNode();
    startSpark();
    JavaPairRDD<Integer, Iterable<Integer>> before = shuffle(MAPS);
    assertRight(before);
    daemon.close();
    startNode();

    assertRight(shuffle(MAPS));
    assertThat(kept("1-")).hasSize(MAPS);
    assertRight(before);
  }

  @Test
  void migratedMapOutputsAreHandedOverAsWell() throws IOException {
    startNode();
    startSpark();
    assertRight(shuffle(MAPS));
    IndexShuffleBlockResolver resolver = manager().shuffleBlockResolver();
    migrate(new ShuffleDataBlockId(0, 77, 0), resolver.getDataFile(0, 0));
    migrate(new ShuffleIndexBlockId(0, 77, 0), resolver.getIndexFile(0, 0, Option.empty()));
    await(() -> kept("0-77").size() == 1, "map output 77 at the node");
  }

  private static void migrate(BlockId id, File file) throws IOException {
    StreamCallbackWithID callback =
        manager()
            .shuffleBlockResolver()
            .putShuffleBlockAsStream(id, SparkEnv.get().serializerManager());
    callback.onData(id.name(), ByteBuffer.wrap(Files.readAllBytes(file.toPath())));
    callback.onComplete(id.name());
  }

  private JavaPairRDD<Integer, Iterable<Integer>> shuffle(int maps) {
    List<Integer> numbers = IntStream.range(0, 1000).boxed().toList();
    return context
        .parallelize(numbers, maps)
        .mapToPair(number -> new Tuple2<>(number % 10, number))
        .groupByKey(5);
  }

  private static void assertRight(JavaPairRDD<Integer, Iterable<Integer>> shuffled) {
    assertThat(shuffled.mapValues(NodeHandOverTest::count).values().collect())
        .containsOnly(100L)
        .hasSize(10);
  }

  private static long count(Iterable<Integer> values) {
    long count = 0;
    for (Integer ignored : values) {
      count++;
    }
    return count;
  }

  private static RdmaShuffleManager manager() {
    return (RdmaShuffleManager) SparkEnv.get().shuffleManager();
  }

  /** Returns names of the node's folders for map outputs, or without a prefix for applications. */
  private List<String> kept(String prefix) {
    Stream<File> applications = folders(directory.resolve(".sluice").toFile());
    Stream<File> kept =
        prefix.isEmpty() ? applications : applications.flatMap(NodeHandOverTest::folders);
    return kept.map(File::getName).filter(name -> name.startsWith(prefix)).toList();
  }

  /** Returns the folders in a folder; none if it does not exist. */
  private static Stream<File> folders(File parent) {
    return Stream.ofNullable(parent.listFiles(File::isDirectory)).flatMap(Arrays::stream);
  }

  private void awaitNothingKept(String prefix) {
    await(() -> kept(prefix).isEmpty(), "none of " + prefix);
  }

  private static void await(BooleanSupplier state, String description) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!state.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as(description).isNegative();
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }
}
