// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.spark.resolve.ResolverMapOutputFiles;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.Tuple2;

/** The manager in local mode, where one instance is driver and executor. */
class RdmaShuffleManagerTest {
  private static final int REPORTS = 30;
  private static final Duration REPORT_AFTER = Duration.ofSeconds(1);
  private static final int MAPS = 4;

  /** Map ids are ids of task attempts. */
  private static final long FIRST_MAP = 0;

  private static final int PARTITIONS = 5;
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final SparkConf conf =
      new SparkConf(false)
          .setMaster("local[2]")
          .setAppName("test")
          .set("spark.ui.enabled", "false")
          .set("spark.driver.host", "127.0.0.1")
          // The test ends shuffles itself; the garbage collector must not.
          .set("spark.cleaner.referenceTracking", "false")
          .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
          .set("spark.shuffle.rdma.provider", "soft");
  private JavaSparkContext context;

  @AfterEach
  void stop() {
    if (context != null) {
      context.close();
    }
  }

  @Test
  void blocksAreReadOverALoopbackQueuePair() {
    conf.set("spark.shuffle.rdma.testing.loopback", "true")
        .set("spark.shuffle.rdma.testing.refuseNetty", "true")
        .set("spark.shuffle.readHostLocalDisk", "false");
    start();
    assertThat(counts(shuffle())).containsOnly(100L).hasSize(10);
    await(totals -> totals.getOrDefault("read.blocks", 0L) > 0);
    assertThat(manager().totals())
        .allSatisfy(
            (counter, value) -> {
              if (counter.startsWith("fallback.") || counter.equals("corruptions")) {
                assertThat(value).as(counter).isZero();
              }
            });
    assertThat(manager().devices())
        .hasEntrySatisfying("driver", d -> assertThat(d).startsWith("soft "));
  }

  @Test
  void localBlocksAreFoundWithoutTheirIndexFile() throws IOException {
    start();
    counts(shuffle());
    awaitRegistrations();
    ManagedBuffer expected = resolver().getBlockData(block(1), Option.empty());

    File index = resolver().getIndexFile(0, FIRST_MAP, Option.empty());
    assertThat(index.delete()).isTrue();

    assertThat(resolver().getBlockData(block(1), Option.empty()).nioByteBuffer())
        .isEqualTo(expected.nioByteBuffer());
    assertThat(resolver().getBlockData(all(), Option.empty()).size())
        .isEqualTo(resolver().getDataFile(0, FIRST_MAP).length());
  }

  /** The name of a file determines its directory. */
  @Test
  void filesAreLocatedWithoutTheDisk(@TempDir Path one, @TempDir Path other) {
    conf.set("spark.local.dir", one + "," + other);
    start();
    counts(shuffle());
    ResolverMapOutputFiles outputs =
        new ResolverMapOutputFiles(
            conf, resolver(), SparkEnv.get().blockManager().diskBlockManager().localDirsString());
    for (long map = FIRST_MAP; map < FIRST_MAP + MAPS; map++) {
      MapOutputFiles.Files found = outputs.find(0, map);
      assertThat(outputs.paths(0, map))
          .containsExactly(found.data(), found.index(), found.checksums());
    }
  }

  @Test
  void tasksReadOwnBlocksFromRegisteredMemory() {
    start();
    JavaPairRDD<Integer, Iterable<Integer>> shuffled = shuffle();
    counts(shuffled);
    awaitRegistrations();
    for (long map = FIRST_MAP; map < FIRST_MAP + MAPS; map++) {
      assertThat(resolver().getDataFile(0, map).delete()).isTrue();
    }

    assertThat(counts(shuffled)).containsOnly(100L).hasSize(10);

    assertThat(resolver().getDataFile(0, FIRST_MAP)).as("written again").doesNotExist();
  }

  /** Streams of Kryo and of some codecs may end anywhere, so no other code would notice it. */
  @Test
  void noRecordOfATruncatedFileIsLost() throws IOException {
    conf.set("spark.shuffle.rdma.registration.maxBytes", "0")
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    start();
    JavaPairRDD<Integer, Iterable<Integer>> shuffled = shuffle();
    counts(shuffled);
    Path data = resolver().getDataFile(0, FIRST_MAP).toPath();
    Files.write(data, new byte[0]);

    assertThatThrownBy(() -> resolver().getBlockData(block(1), Option.empty()))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(data.toString());
    assertThat(counts(shuffled)).containsOnly(100L).hasSize(10);
  }

  @Test
  void aMigratedMapOutputIsRegisteredWhenBothOfItsFilesAreThere() throws IOException {
    start();
    counts(shuffle());
    awaitRegistrations();

    // Otherwise Spark does not know the shuffle.
    ((MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker()).registerShuffle(9, 1, 10);
    migrateTo(9, 77);
    counts(shuffle());

    await(totals -> totals.getOrDefault("registry.registered-outputs", 0L) == 2 * MAPS + 1);
    assertThat(resolver().getDataFile(9, 77)).exists();
    assertThat(manager().unregisterShuffle(9)).isTrue();
    assertThat(resolver().getDataFile(9, 77)).doesNotExist();
  }

  @Test
  void aMapOutputOfAShuffleThatSparkHasForgottenDoesNotStay() throws IOException {
    start();
    counts(shuffle());
    awaitRegistrations();
    migrateTo(900, 77);

    // A moment after tasks have ended, the executor reports and gets an answer. A shuffle that the
    // answer declares over is withdrawn, and deregistered 15 s later.
    for (int i = 0; i < REPORTS && !isOneGone(manager().totals()); i++) {
      counts(shuffle());
      LockSupport.parkNanos(REPORT_AFTER.toNanos());
    }

    await(RdmaShuffleManagerTest::isOneGone);
  }

  private static boolean isOneGone(Map<String, Long> totals) {
    return totals.getOrDefault("registry.registrations", 0L)
        == totals.getOrDefault("registry.registered-outputs", 0L) + 1;
  }

  /** Simulates the arrival of the first map output from another executor. */
  private static void migrateTo(int shuffleId, long mapId) throws IOException {
    byte[] data = Files.readAllBytes(resolver().getDataFile(0, FIRST_MAP).toPath());
    byte[] index =
        Files.readAllBytes(resolver().getIndexFile(0, FIRST_MAP, Option.empty()).toPath());
    migrate(new ShuffleDataBlockId(shuffleId, mapId, 0), data);
    migrate(new ShuffleIndexBlockId(shuffleId, mapId, 0), index);
  }

  private static void migrate(BlockId id, byte[] bytes) throws IOException {
    StreamCallbackWithID callback =
        resolver().putShuffleBlockAsStream(id, SparkEnv.get().serializerManager());
    assertThat(callback.getID()).isEqualTo(id.name());
    callback.onData(id.name(), ByteBuffer.wrap(bytes));
    callback.onComplete(id.name());
  }

  @Test
  void nettyIsRefusedWhereATestWantsThat() {
    conf.set("spark.shuffle.rdma.testing.refuseNetty", "true");
    start();
    assertThat(counts(shuffle())).containsOnly(100L);
    assertThatThrownBy(() -> resolver().getBlockData(block(1), Option.empty()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("refuseNetty");
  }

  @Test
  void unregisteringDeregistersAndDeletes() {
    start();
    counts(shuffle());
    awaitRegistrations();
    File data = resolver().getDataFile(0, FIRST_MAP);
    assertThat(data).exists();

    assertThat(manager().unregisterShuffle(0)).isTrue();

    assertThat(data).doesNotExist();
    assertThatThrownBy(() -> resolver().getBlockData(block(1), Option.empty()))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void anUnknownKeyEndsTheApplicationAtItsStart() {
    conf.set("spark.shuffle.rdma.provder", "soft");
    assertThatThrownBy(this::start)
        .rootCause()
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spark.shuffle.rdma.provder");
  }

  @Test
  void verbsWithoutADeviceEndsALocalApplicationAtItsStart() {
    conf.set("spark.shuffle.rdma.provider", "verbs");
    assertThatThrownBy(this::start)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("spark.shuffle.rdma.provider is \"verbs\"", "does not work here");
  }

  @Test
  void theOldFetchProtocolIsServedByTheStockShuffle() {
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    start();
    assertThat(counts(shuffle())).containsOnly(100L);
    await(totals -> totals.getOrDefault("local.blocks", 0L) > 0);
    assertThat(manager().devices()).containsEntry("driver", "off");
    assertThat(manager().totals()).containsEntry("read.blocks", 0L);
  }

  private void start() {
    context = new JavaSparkContext(conf);
  }

  private static RdmaShuffleManager manager() {
    return (RdmaShuffleManager) SparkEnv.get().shuffleManager();
  }

  private static IndexShuffleBlockResolver resolver() {
    return manager().shuffleBlockResolver();
  }

  private JavaPairRDD<Integer, Iterable<Integer>> shuffle() {
    List<Integer> numbers = IntStream.range(0, 1000).boxed().toList();
    return context
        .parallelize(numbers, MAPS)
        .mapToPair(number -> new Tuple2<>(number % 10, number))
        .groupByKey(PARTITIONS);
  }

  private static List<Long> counts(JavaPairRDD<Integer, Iterable<Integer>> rdd) {
    return rdd.mapValues(RdmaShuffleManagerTest::count).values().collect();
  }

  private static long count(Iterable<Integer> values) {
    long count = 0;
    for (Integer ignored : values) {
      count++;
    }
    return count;
  }

  private static void awaitRegistrations() {
    await(totals -> totals.getOrDefault("registry.registered-outputs", 0L) == MAPS);
  }

  private static ShuffleBlockId block(int partition) {
    return new ShuffleBlockId(0, FIRST_MAP, partition);
  }

  private static ShuffleBlockBatchId all() {
    return new ShuffleBlockBatchId(0, FIRST_MAP, 0, PARTITIONS);
  }

  private static void await(Predicate<Map<String, Long>> condition) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!condition.test(manager().totals())) {
      assertThat(System.nanoTime()).as("time, with %s", manager().totals()).isLessThan(deadline);
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }
}
