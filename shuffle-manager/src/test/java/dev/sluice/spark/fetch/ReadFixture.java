// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FakeStager;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * A client for shuffle 3 of executor 7. The test scripts its transport, locator, clock and
 * fallback.
 */
final class ReadFixture {
  static final int SHUFFLE = 3;
  static final ReadOptions OPTIONS =
      ReadOptions.DEFAULT.with(
          o -> {
            o.readTimeoutMs = 10_000;
            o.bufferWaitMs = 1_000;
            o.maxGroupBytes = 1 << 16;
            o.gatherBytes = 1 << 20;
          });

  final ReadOptions options;
  final FakeTransport transport;
  final FakeLocator locator;
  final FakeTimer timer = new FakeTimer();
  final FakeSparkClient spark = new FakeSparkClient(this::written);
  final ShuffleCounters counters = new ShuffleCounters();
  final RecordingListener listener = new RecordingListener();
  final RdmaBlockStoreClient client;
  final FakeStager stager;
  private final Map<Long, MapOutput> outputs = new HashMap<>();
  private long nextAddress = 1 << 20;

  ReadFixture() {
    this(OPTIONS, Runnable::run);
  }

  ReadFixture(ReadOptions options) {
    this(options, Runnable::run);
  }

  /**
   * @param executor runs the work of all other threads
   */
  ReadFixture(ReadOptions options, Executor executor) {
    this(options, executor, 1 << 30);
  }

  /**
   * @param pool bytes that the buffer pool claims to have
   */
  ReadFixture(ReadOptions options, Executor executor, long pool) {
    this.options = options;
    transport = new FakeTransport(executor, pool);
    stager = new FakeStager(transport, outputs::get, timer::nanoTime);
    transport.stager(stager);
    locator = new FakeLocator(executor);
    client =
        RdmaBlockStoreClient.open(
            new RdmaBlockStoreClient.Stock(
                spark, "1", new TransportConf("shuffle", MapConfigProvider.EMPTY)),
            options,
            transport,
            locator,
            Optional.empty(),
            counters,
            new ReadThreads(timer, executor, executor, () -> {}));
  }

  /** Makes a map output that can be READ. */
  MapOutput registered(long mapId, int... lengths) {
    MapOutput output = unregistered(mapId, lengths);
    register(output);
    return output;
  }

  /** Makes a map output that only Spark's own transport can fetch. */
  MapOutput unregistered(long mapId, int... lengths) {
    MapOutput output = new MapOutput(mapId, lengths);
    outputs.put(mapId, output);
    return output;
  }

  /** Makes a map output with bytes that have to be staged. */
  MapOutput staged(long mapId, int... lengths) {
    MapOutput output = unregistered(mapId, lengths);
    stage(output);
    return output;
  }

  /** Makes a map output as {@link #staged} does, but without Spark's checksums. */
  MapOutput unverifiable(long mapId, int... lengths) {
    MapOutput output = unregistered(mapId, lengths).withoutChecksums();
    stage(output);
    return output;
  }

  /** Makes a map output of any of these kinds. */
  MapOutput any(Random random, long mapId, int... lengths) {
    int percent = random.nextInt(100);
    if (percent < 10) {
      return unregistered(mapId, lengths);
    } else if (percent < 50) {
      return registered(mapId, lengths);
    } else {
      return percent < 80 ? staged(mapId, lengths) : unverifiable(mapId, lengths);
    }
  }

  /** Registers a map output, or registers it anew at another address. */
  MapOutputLocation register(MapOutput output) {
    return put(output.register(transport, nextAddress));
  }

  /** Makes the peer stage all bytes of the map output. */
  void stage(MapOutput output) {
    put(output.stage());
  }

  /** Registers a map output with checksums; one without them is staged. */
  void move(MapOutput output) {
    if (output.algorithm() == ChecksumAlgorithm.NONE) {
      stage(output);
    } else {
      register(output);
    }
  }

  private MapOutputLocation put(MapOutputLocation location) {
    nextAddress += 1 << 20;
    locator.put(location);
    return location;
  }

  /**
   * Makes READs fail, or bring wrong bytes, at random.
   *
   * @param tableBytes largest READ of a table; only READs of data are corrupted, as tables are
   *     verified with the data
   */
  void breakReads(Random random, int tableBytes) {
    int failing = random.nextInt(50);
    int corrupting = random.nextInt(50);
    Cause[] causes = Cause.values();
    transport.script(
        (_, _) -> random.nextInt(100) < failing ? causes[random.nextInt(causes.length)] : null);
    transport.afterRead(
        read -> {
          boolean data = read.bytes() % 16 != 0 || read.bytes() > tableBytes;
          if (data && random.nextInt(100) < corrupting) {
            long place = random.nextLong(read.bytes());
            byte spoilt = (byte) ~read.target().get(ValueLayout.JAVA_BYTE, place);
            read.target().set(ValueLayout.JAVA_BYTE, place, spoilt);
          }
        });
  }

  /** Records READs of batches, after which executor 7 may be late: 10 MB from others. */
  void readFromOthers() {
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      readBatch("other " + i % 4, 100_000, 1);
    }
  }

  /** Makes executor 7 late so often that it is avoided. */
  void beLate() {
    for (int i = 0; i < LatePeers.MAX_LATE; i++) {
      timer.advanceMs(1_000);
      readBatch("7", 1, 51);
    }
  }

  /** Records the READ of a batch. */
  void readBatch(String peer, int bytes, long ms) {
    LateReads.Read read = client.path.lateReads().new Read(peer, bytes);
    read.begin();
    timer.advanceMs(ms);
    read.end(bytes);
  }

  static String block(long mapId, int partition) {
    return "shuffle_" + SHUFFLE + "_" + mapId + "_" + partition;
  }

  static String batch(long mapId, int start, int end) {
    return block(mapId, start) + "_" + end;
  }

  void fetch(String... blockIds) {
    fetch(null, blockIds);
  }

  void fetch(DownloadFileManager files, String... blockIds) {
    client.fetchBlocks("host", 99, "7", blockIds, listener, files);
  }

  /** Returns the bytes with which a block was written. */
  byte[] written(String blockId) {
    RequestedBlock block = RequestedBlock.parse(blockId);
    return outputs.get(block.mapId()).bytes(block.startPartition(), block.endPartition());
  }

  long count(String counter) {
    return counters.byName().get(counter).getAsLong();
  }

  long fallbacks(FallbackReason reason) {
    return count("fallback.blocks." + reason);
  }

  /** Checks that all resources are free, whatever the results of the READs. */
  void assertNothingIsHeld() {
    assertThat(transport.buffersOut()).as("buffers").isZero();
    assertThat(client.path.budget().stagedBytes()).as("waiting to be staged").isZero();
    assertThat(transport.done())
        .as("each lease is given back once")
        .containsExactlyInAnyOrderElementsOf(stager.leaseIds());
    assertThat(timer.scheduled()).as("timeouts").isZero();
  }

  /** Checks that exactly these blocks were answered, with the bytes that were written. */
  void assertDelivered(String... blockIds) {
    assertThat(listener.failures()).isEmpty();
    assertThat(listener.successes()).containsOnlyKeys(blockIds);
    listener.successes().forEach((blockId, bytes) -> assertThat(bytes).isEqualTo(written(blockId)));
  }
}
