package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.spark.metrics.FallbackReason;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * A client whose transport, locator, time and fallback the test scripts; shuffle 3 of executor 7.
 */
final class ReadFixture {
  static final int SHUFFLE = 3;
  static final ReadOptions OPTIONS =
      ReadOptions.DEFAULT.with(
          o -> {
            o.readTimeoutMs = 10_000;
            o.bufferWaitMs = 1_000;
            o.maxGroupBytes = 1 << 16;
            o.tableCacheBytes = 1 << 20;
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
  private final Map<Long, MapOutput> outputs = new HashMap<>();
  private long nextAddress = 1 << 20;

  ReadFixture() {
    this(OPTIONS, Runnable::run);
  }

  ReadFixture(ReadOptions options) {
    this(options, Runnable::run);
  }

  /**
   * @param executor runs whatever other threads would
   */
  ReadFixture(ReadOptions options, Executor executor) {
    this.options = options;
    transport = new FakeTransport(executor);
    locator = new FakeLocator(executor);
    client =
        RdmaBlockStoreClient.open(
            spark,
            "1",
            new TransportConf("shuffle", MapConfigProvider.EMPTY),
            options,
            transport,
            locator,
            counters,
            timer,
            executor,
            executor,
            () -> {});
  }

  /** A map output that can be READ. */
  MapOutput registered(long mapId, int... lengths) {
    MapOutput output = unregistered(mapId, lengths);
    register(output);
    return output;
  }

  /** A map output that only Spark's own transfer can fetch. */
  MapOutput unregistered(long mapId, int... lengths) {
    MapOutput output = new MapOutput(mapId, lengths);
    outputs.put(mapId, output);
    return output;
  }

  /** Registers, or registers anew at another address. */
  MapOutputLocation register(MapOutput output) {
    MapOutputLocation location = output.register(transport, nextAddress);
    nextAddress += 1 << 20;
    locator.put(location);
    return location;
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

  /** The bytes that a block was written with. */
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

  /** Each of the blocks was answered with what was written, and no other. */
  void assertDelivered(String... blockIds) {
    assertThat(listener.failures()).isEmpty();
    assertThat(listener.successes()).containsOnlyKeys(blockIds);
    listener.successes().forEach((blockId, bytes) -> assertThat(bytes).isEqualTo(written(blockId)));
  }
}
