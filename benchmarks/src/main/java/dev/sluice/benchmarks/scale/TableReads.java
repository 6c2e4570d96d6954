package dev.sluice.benchmarks.scale;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.read.RdmaBlockStoreClient;
import dev.sluice.spark.read.ReadOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * An executor that fetches small blocks by READ, and counts what it READs of partition tables. All
 * map outputs have the same bytes of one peer; to the client, which caches pages map output by map
 * output, they are as many. Used and closed by one thread.
 */
final class TableReads implements AutoCloseable {
  private static final long BLOCK_BYTES = 16;
  private static final long TIMEOUT_MS = 60_000;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final NetworkParts reader;
  private final NetworkParts peer;
  private final RemoteRegion table;
  private final RdmaBlockStoreClient client;
  private final long bytesBefore;
  private final long readsBefore;
  private long blocks;

  /**
   * @param partitions that all map outputs have
   * @param cacheBytes spark.shuffle.rdma.offsets.cacheBytes
   */
  TableReads(NetworkParts reader, NetworkParts peer, int partitions, long cacheBytes) {
    this.reader = reader;
    this.peer = peer;
    long tableBytes = (partitions + 1L) * PartitionTable.ENTRY_BYTES;
    table = new RemoteRegion(peer.memory().address(), tableBytes, peer.memory().rkey());
    fill(peer.bytes().asSlice(0, tableBytes));
    client =
        RdmaBlockStoreClient.open(
            new NoTransfer(),
            "reader",
            NetworkParts.TRANSPORT,
            ReadOptions.DEFAULT.with(
                o -> {
                  o.readTimeoutMs = TIMEOUT_MS;
                  o.bufferWaitMs = TIMEOUT_MS;
                  o.tableCacheBytes = cacheBytes;
                  o.gatherBytes = 0;
                }),
            reader.endpoint(),
            new Locations(),
            reader.client(),
            new ShuffleCounters());
    bytesBefore = counted(TransferCounter.READ_BYTES);
    readsBefore = counted(TransferCounter.WORK_REQUESTS);
  }

  private long counted(TransferCounter counter) {
    return reader.endpoint().counters().get(counter);
  }

  private static void fill(MemorySegment table) {
    for (long i = 0; i < table.byteSize() / PartitionTable.ENTRY_BYTES; i++) {
      table.set(LONG, i * PartitionTable.ENTRY_BYTES, i * BLOCK_BYTES);
    }
  }

  /** Fetches a partition of each of these map outputs, as a reducer does of one executor. */
  void fetch(LongStream mapIds, int partition) throws IOException, InterruptedException {
    String[] blockIds =
        mapIds
            .mapToObj(map -> "shuffle_%d_%d_%d".formatted(ScaleSamples.SHUFFLE, map, partition))
            .toArray(String[]::new);
    Answers answers = new Answers(blockIds.length);
    client.fetchBlocks(
        peer.address().host(), peer.address().port(), peer.address().id(), blockIds, answers, null);
    try {
      answers.all.get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("blocks of partition " + partition, e);
    }
    blocks += blockIds.length;
  }

  /** Bytes that were READ and are not blocks'. */
  long tableBytes() {
    return counted(TransferCounter.READ_BYTES) - bytesBefore - blocks * BLOCK_BYTES;
  }

  /** READs on the wire, of pages and of blocks. */
  long reads() {
    return counted(TransferCounter.WORK_REQUESTS) - readsBefore;
  }

  @Override
  public void close() {
    client.close();
  }

  /** Where everything is. */
  private final class Locations implements Locator {
    @Override
    public void prepare(int shuffleId) {}

    @Override
    public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
      MapOutputLocation[] outputs =
          Arrays.stream(mapIds)
              .mapToObj(
                  map -> new MapOutputLocation(map, peer.memory(), table, ChecksumAlgorithm.NONE))
              .toArray(MapOutputLocation[]::new);
      return CompletableFuture.completedFuture(new Located(peer.address(), outputs));
    }

    @Override
    public void invalidate(int shuffleId, MapOutputLocation stale) {}
  }

  /** Completes with the last block. Called by the client's threads. */
  private static final class Answers implements BlockFetchingListener {
    private final CompletableFuture<Void> all = new CompletableFuture<>();
    private final AtomicInteger left;

    Answers(int blocks) {
      left = new AtomicInteger(blocks);
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      if (left.decrementAndGet() == 0) {
        all.complete(null);
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      all.completeExceptionally(failure);
    }
  }

  /** In the place of Spark's own transfer, to which nothing is to go here. */
  private static final class NoTransfer extends BlockStoreClient {
    @Override
    public void fetchBlocks(
        String host,
        int port,
        String executorId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      throw new IllegalStateException(blockIds.length + " blocks were not READ");
    }

    @Override
    public void close() {}
  }
}
