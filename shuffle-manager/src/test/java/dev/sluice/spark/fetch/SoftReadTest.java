// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.SHUFFLE;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.Source;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.EndpointTransport;
import dev.sluice.spark.transport.MapOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Reading from a real registry through real queue pairs of the software provider. */
@Timeout(180)
class SoftReadTest {
  private static final int PARTITIONS = 300;
  private static final int MAPS = 20;

  @TempDir private Path directory;
  private final Map<Long, MapOutput> outputs = new HashMap<>();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final FakeSparkClient spark = new FakeSparkClient(this::written);
  private final ScheduledExecutorService timer = DaemonThreads.timer();
  private SoftPeer peer;
  private BlockServerClient servers;
  private RdmaEndpoint endpoint;
  private RdmaBlockStoreClient client;

  private void start(FaultPlan faults) throws IOException {
    start(faults, SoftPeer.ALL, 1 << 20);
  }

  /** Starts with nothing registered. */
  private void startStaging(FaultPlan faults, long stagingBytes) throws IOException {
    start(faults, new RegistryLimits(0, 1000, 0), stagingBytes);
  }

  private void start(FaultPlan faults, RegistryLimits limits, long stagingBytes)
      throws IOException {
    peer = new SoftPeer(directory, faults, limits, stagingBytes);
    servers =
        new BlockServerClient(
            new ProcessName(SoftPeer.APPLICATION, "1"),
            SoftPeer.TRANSPORT_CONF,
            List.of(),
            SoftPeer.OPTIONS,
            10_000,
            () -> 0,
            Thread::startVirtualThread);
    endpoint = SoftPeer.endpoint(FaultPlan.NONE, servers);
    client =
        RdmaBlockStoreClient.open(
            new RdmaBlockStoreClient.Stock(spark, "1", SoftPeer.TRANSPORT_CONF),
            ReadOptions.DEFAULT.with(
                o -> {
                  o.readTimeoutMs = 60_000;
                  o.bufferWaitMs = 60_000;
                  o.maxGroupBytes = 1 << 18;
                  o.gatherBytes = 1 << 20;
                  o.maxStagedBytes = (int) Math.min(Stager.MAX_REQUEST_BYTES, stagingBytes / 4);
                }),
            new EndpointTransport(endpoint, servers),
            new Resolving(),
            Optional.empty(),
            counters,
            timer,
            Thread::startVirtualThread);
    Random random = new Random(1);
    for (long mapId = 0; mapId < MAPS; mapId++) {
      commit(new MapOutput(mapId, random.ints(PARTITIONS, 0, 3000).toArray()));
    }
  }

  private void commit(MapOutput output) throws IOException {
    outputs.put(output.mapId(), output);
    peer.write(output);
    peer.registry().add(SHUFFLE, output.mapId());
  }

  @AfterEach
  void stop() {
    client.close();
    endpoint.close();
    servers.close();
    peer.close();
    timer.shutdownNow();
  }

  @Test
  void everyBlockIsRead() throws Exception {
    start(FaultPlan.NONE);

    Answers answers = fetchAll(null);

    answers.assertRight();
    long empty = blocks().stream().filter(blockId -> written(blockId).length == 0).count();
    assertThat(count("read.blocks")).isEqualTo(MAPS * PARTITIONS - empty);
    assertThat(endpoint.buffers().bytesInUse()).isZero();
  }

  @Test
  void everyBlockIsRightWhateverTheFabricDoes() throws Exception {
    start(FaultPlan.parse("seed=5;corrupt=0.02;status=0.02:REM_OP_ERR;kill=0.01"));

    Answers answers = fetchAll(null);

    answers.assertRight();
    assertThat(count("read.blocks")).isPositive();
    assertThat(count("corruptions")).isPositive();
  }

  @Test
  void blocksAreReadToDisk() throws Exception {
    start(FaultPlan.NONE);
    Path downloads = Files.createDirectory(directory.resolve("downloads"));

    Answers answers = fetchAll(new DownloadDirectory(downloads));

    answers.assertRight();
    assertThat(count("fallback.blocks.CHECKSUM")).isZero();
    assertThat(endpoint.buffers().bytesInUse()).isZero();
  }

  @Test
  void mapOutputThatIsRegisteredAnewIsReadFromItsNewPlace() throws Exception {
    start(FaultPlan.NONE);
    fetchAll(null).assertRight();
    for (long mapId = 0; mapId < MAPS; mapId++) {
      peer.registry().invalidate(SHUFFLE, mapId);
      peer.registry().add(SHUFFLE, mapId);
    }

    fetchAll(null).assertRight();

    assertThat(count("fallback.blocks.STALE_LOCATION")).isZero();
    assertThat(count("fallback.blocks.NOT_REGISTERED")).isZero();
  }

  @Test
  void blocksOfAnUnregisteredShuffleAreLeftToSpark() throws Exception {
    start(FaultPlan.NONE);
    fetchAll(null).assertRight();
    peer.registry().unregister(SHUFFLE);
    client.unregisterShuffle(SHUFFLE);

    fetchAll(null).assertRight();

    assertThat(count("fallback.blocks.NOT_REGISTERED") + count("fallback.blocks.STALE_LOCATION"))
        .isGreaterThanOrEqualTo(MAPS * (PARTITIONS - 10));
  }

  @Test
  void blocksThatAreFetchedAfterTheCloseStillHaveAnAnswer() throws Exception {
    start(FaultPlan.NONE);
    client.close();
    endpoint.close();

    fetchAll(null);

    assertThat(count("read.blocks")).isZero();
  }

  @Test
  void unregisteredBlocksAreReadFromStagingMemory() throws Exception {
    startStaging(FaultPlan.NONE, 1 << 20);

    fetchAll(null).assertRight();

    assertAllWasStaged(allBytes());
  }

  @Test
  void unregisteredBlocksAreReadToDiskThroughLittleStagingMemory() throws Exception {
    startStaging(FaultPlan.NONE, 1 << 17);
    Path downloads = Files.createDirectory(directory.resolve("downloads"));

    fetchAll(new DownloadDirectory(downloads)).assertRight();

    assertAllWasStaged(allBytes());
  }

  @Test
  void blocksLargerThanStagingMemoryAreReadFromIt() throws Exception {
    startStaging(FaultPlan.NONE, 1 << 17);
    commit(new MapOutput(100, 3 << 20));
    commit(new MapOutput(101, 3 << 20).withoutChecksums());
    Path downloads = Files.createDirectory(directory.resolve("downloads"));

    fetchBoth(null);
    fetchBoth(new DownloadDirectory(downloads));

    assertAllWasStaged(4 * (3 << 20));
  }

  /** A table takes 640 KB, and nothing larger than 64 KB may be registered. */
  @Test
  void tablesLargerThanTheBudgetAreAskedFor() throws Exception {
    start(FaultPlan.NONE, new RegistryLimits(64 << 10, 1000, 0), 1 << 20);
    int partitions = 40_000;
    List<String> blocks = new ArrayList<>();
    for (int mapId = 100; mapId < 103; mapId++) {
      commit(new MapOutput(mapId, new Random(mapId).ints(partitions, 0, 5).toArray()));
      blocks.add(ReadFixture.batch(mapId, 0, 1_000));
      blocks.add(ReadFixture.batch(mapId, 3_000, partitions));
    }
    Answers answers = new Answers(blocks);
    client.fetchBlocks("localhost", 1, "7", blocks.toArray(String[]::new), answers, null);
    answers.await();

    answers.assertRight();
    assertThat(spark.blockIdsFetched()).isEmpty();
    assertThat(count("staged.bytes")).isPositive().isEqualTo(count("read.bytes"));
    assertThat(peer.registry().counters().get(RegistryCounter.REGISTERED_BYTES))
        .isLessThanOrEqualTo(64 << 10);
    assertNothingIsHeld();
  }

  private void fetchBoth(DownloadFileManager files) throws InterruptedException {
    String[] blocks = {block(100, 0), block(101, 0)};
    Answers answers = new Answers(List.of(blocks));
    client.fetchBlocks("localhost", 1, "7", blocks, answers, files);
    answers.await();
    answers.assertRight();
  }

  private long allBytes() {
    return outputs.values().stream().mapToLong(output -> output.data().length).sum();
  }

  private void assertAllWasStaged(long bytes) throws InterruptedException {
    assertThat(count("read.bytes")).isEqualTo(bytes);
    assertThat(count("staged.bytes")).isEqualTo(bytes);
    assertThat(count("staged.late")).isZero();
    for (String blockId : spark.blockIdsFetched()) {
      assertThat(written(blockId)).as(blockId).isEmpty();
    }
    assertNothingIsHeld();
  }

  /** Checks that all resources are free. An answer is given before its resources are freed. */
  private void assertNothingIsHeld() throws InterruptedException {
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (isHeld() && System.nanoTime() - giveUpNanos < 0) {
      Thread.sleep(1);
    }
    assertThat(endpoint.buffers().bytesInUse()).isZero();
    assertThat(client.path.budget().stagedBytes()).isZero();
  }

  private boolean isHeld() {
    return endpoint.buffers().bytesInUse() > 0 || client.path.budget().stagedBytes() > 0;
  }

  @Test
  void stagedBlocksAreRightWhateverTheFabricDoes() throws Exception {
    startStaging(FaultPlan.parse("seed=5;corrupt=0.02;status=0.02:REM_OP_ERR;kill=0.01"), 1 << 20);

    fetchAll(null).assertRight();

    assertThat(count("staged.bytes")).isPositive();
    assertThat(count("corruptions")).isPositive();
    assertNothingIsHeld();
  }

  @Test
  void aServerThatIsClosedLeavesTheRestToSpark() throws Exception {
    startStaging(FaultPlan.NONE, 1 << 17);
    Answers answers = fetchSoon(null);
    answers.await(MAPS * PARTITIONS / 3);

    peer.closeServer();

    answers.await();
    answers.assertRight();
    assertThat(count("read.blocks")).isPositive();
    assertThat(count("fallback.blocks.STAGING")).isPositive();
    assertNothingIsHeld();
  }

  /** They break between request and answer, and between the answer and the READ. */
  @Test
  void brokenControlConnectionsLeaveNoBlockUnanswered() throws Exception {
    startStaging(FaultPlan.NONE, 1 << 20);
    Answers answers = fetchSoon(null);
    for (int left = MAPS * PARTITIONS - 100; left > 0; left -= 100) {
      answers.await(left);
      servers.peerLost(peer.address());
    }

    answers.await();
    answers.assertRight();
    assertThat(count("read.blocks")).isPositive();
    assertNothingIsHeld();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tasksThatEndWhileAnotherThreadReadsLeaveNothing(boolean staged) throws Exception {
    if (staged) {
      startStaging(FaultPlan.NONE, 1 << 20);
    } else {
      start(FaultPlan.NONE);
    }
    Random random = new Random(7);
    for (int round = 0; round < 300; round++) {
      TaskContextImpl task = TaskContext$.MODULE$.empty();
      AtomicReference<Throwable> end = new AtomicReference<>();
      Thread reading =
          Thread.ofPlatform()
              .daemon()
              .uncaughtExceptionHandler((_, e) -> end.set(e))
              .start(() -> readOn(task));
      TimeUnit.NANOSECONDS.sleep(random.nextInt(5_000_000));
      task.markTaskCompleted(Option.empty());
      assertThat(reading.join(Duration.ofSeconds(60))).isTrue();
      assertThat(end.get()).isInstanceOf(IllegalStateException.class);
    }
    assertThat(count("gathered.blocks")).isPositive();
    assertThat(client.path.tasks().size()).isZero();
    assertNothingIsHeld();
  }

  /** Makes one reader after the other, until the end of the task stops it. */
  private void readOn(TaskContextImpl task) {
    CountingReadMetrics metrics =
        new CountingReadMetrics(
            (ShuffleReadMetricsReporter)
                Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {ShuffleReadMetricsReporter.class},
                    (_, _, _) -> null),
            counters);
    BlockManagerId executor = BlockManagerId.apply("7", "localhost", 1, Option.empty());
    for (int partition = 0; ; partition = (partition + 1) % PARTITIONS) {
      List<Tuple3<BlockId, Object, Object>> wanted = new ArrayList<>();
      for (int mapId = 0; mapId < MAPS; mapId++) {
        long bytes = written(block(mapId, partition)).length;
        if (bytes > 0) {
          ShuffleBlockId id = new ShuffleBlockId(SHUFFLE, mapId, partition);
          wanted.add(new Tuple3<>(id, bytes, mapId));
        }
      }
      RdmaBlockFetcherIterator blocks =
          new RdmaBlockFetcherIterator(
              new Plain(), peer.registry(), client.gather(task, metrics::arrived), metrics);
      blocks.start(List.of(new BlocksByAddress(executor, wanted)), _ -> Source.REMOTE, false);
      while (blocks.hasNext()) {
        Tuple2<BlockId, InputStream> next = blocks.next();
        try (InputStream stream = next._2()) {
          assertThat(stream.readAllBytes()).isEqualTo(written(next._1().name()));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  /** Compresses nothing, makes a stream of each block, and has empty iterators of Spark's. */
  private static final class Plain implements SparkReading {
    @Override
    public Iterator<Tuple2<BlockId, InputStream>> fetch(
        List<BlocksByAddress> blocks, SparkBlocks asker) {
      return CollectionConverters.asScala(Collections.emptyIterator());
    }

    @Override
    public long maxBytesInFlight() {
      return 48 << 20;
    }

    @Override
    public boolean concatenates() {
      return false;
    }

    @Override
    public InputStream wrap(BlockId blockId, InputStream stream) {
      return stream;
    }

    @Override
    public boolean detectsCorruption() {
      return false;
    }
  }

  /** Fetches each reducer's blocks by one call, all at once. */
  private Answers fetchAll(DownloadFileManager files) throws InterruptedException {
    Answers answers = fetchSoon(files);
    answers.await();
    return answers;
  }

  private Answers fetchSoon(DownloadFileManager files) {
    Answers answers = new Answers(blocks());
    for (int partition = 0; partition < PARTITIONS; partition++) {
      String[] blockIds = new String[MAPS];
      for (int mapId = 0; mapId < MAPS; mapId++) {
        blockIds[mapId] = block(mapId, partition);
      }
      client.fetchBlocks("localhost", 1, "7", blockIds, answers, files);
    }
    return answers;
  }

  private List<String> blocks() {
    List<String> blockIds = new ArrayList<>();
    for (long mapId = 0; mapId < MAPS; mapId++) {
      for (int partition = 0; partition < PARTITIONS; partition++) {
        blockIds.add(block(mapId, partition));
      }
    }
    return blockIds;
  }

  private byte[] written(String blockId) {
    RequestedBlock block = RequestedBlock.parse(blockId);
    return outputs.get(block.mapId()).bytes(block.startPartition(), block.endPartition());
  }

  private long count(String counter) {
    return counters.byName().get(counter).getAsLong();
  }

  /** Asks the peer for unknown locations, as if there were no driver. */
  private final class Resolving implements Locator {
    private final Map<Long, MapOutputLocation> known = new ConcurrentHashMap<>();

    @Override
    public void prepare(int shuffleId) {}

    @Override
    public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
      MapOutputLocation[] outputs = new MapOutputLocation[mapIds.length];
      boolean complete = true;
      for (int i = 0; i < mapIds.length; i++) {
        outputs[i] = known.get(mapIds[i]);
        complete &= outputs[i] != null;
      }
      if (complete) {
        return CompletableFuture.completedFuture(new Located(peer.address(), outputs));
      }
      return servers
          .resolve(peer.address(), shuffleId, mapIds)
          .thenApply(
              resolved -> {
                resolved.forEach(
                    location -> {
                      if (location != null) {
                        known.put(location.mapId(), location);
                      }
                    });
                return new Located(peer.address(), resolved.toArray(MapOutputLocation[]::new));
              });
    }

    @Override
    public void invalidate(int shuffleId, MapOutputLocation stale) {
      known.remove(stale.mapId(), stale);
    }
  }

  /** Counts answers from any thread. Each block gets one. */
  private final class Answers implements BlockFetchingListener {
    private final CountDownLatch outstanding;
    private final Map<String, byte[]> bytes = new ConcurrentHashMap<>();
    private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());

    Answers(List<String> blockIds) {
      outstanding = new CountDownLatch(blockIds.size());
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      try {
        if (bytes.put(blockId, data.createInputStream().readAllBytes()) != null) {
          wrong.add(blockId + " twice");
        }
      } catch (IOException e) {
        wrong.add(blockId + " " + e);
      }
      outstanding.countDown();
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      wrong.add(blockId + " " + failure);
      outstanding.countDown();
    }

    void await() throws InterruptedException {
      assertThat(outstanding.await(120, TimeUnit.SECONDS)).isTrue();
    }

    /** Waits until at most this many blocks have no answer. */
    void await(int left) throws InterruptedException {
      while (outstanding.getCount() > left) {
        Thread.sleep(1);
      }
    }

    void assertRight() {
      assertThat(wrong).isEmpty();
      bytes.forEach((blockId, read) -> assertThat(read).isEqualTo(written(blockId)));
    }
  }
}
