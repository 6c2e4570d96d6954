package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.read.RdmaBlockStoreClient;
import dev.sluice.spark.read.ReadOptions;
import dev.sluice.spark.transport.EndpointTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * An executor that fetches small blocks by READ, and counts what it READs of partition tables. All
 * executors that it reads from are one peer with the same partition tables, and each of them has a
 * shuffle of its own, so that to the client they are as many. Used and closed by one thread.
 */
final class TableReads implements AutoCloseable {
  private static final long BLOCK_BYTES = 16;
  private static final long TIMEOUT_MS = 60_000;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final NetworkParts reader;
  private final NetworkParts peer;
  private final List<MapOutputLocation> outputs;
  private final MemoryRegion tables;
  private final Arena arena = Arena.ofShared();
  private final RdmaBlockStoreClient client;
  private final long bytesBefore;
  private final long readsBefore;
  private long blocks;

  /**
   * @param maps map outputs of an executor, whose ids are from 0 on
   * @param partitions that all map outputs have
   */
  TableReads(NetworkParts reader, NetworkParts peer, int maps, int partitions) throws IOException {
    this.reader = reader;
    this.peer = peer;
    MemorySegment memory = arena.allocate(ScaleSamples.segmentBytes(maps, partitions), Long.BYTES);
    tables =
        peer.endpoint().protectionDomain().register(memory, EnumSet.of(AccessFlag.REMOTE_READ));
    outputs = fill(memory, maps, partitions);
    client =
        RdmaBlockStoreClient.open(
            new RdmaBlockStoreClient.Stock(new NoTransfer(), "reader", NetworkParts.TRANSPORT),
            ReadOptions.DEFAULT.with(
                o -> {
                  o.readTimeoutMs = TIMEOUT_MS;
                  o.bufferWaitMs = TIMEOUT_MS;
                  o.gatherBytes = 0;
                }),
            new EndpointTransport(reader.endpoint(), reader.client()),
            new Locations(),
            Optional.empty(),
            new ShuffleCounters());
    bytesBefore = counted(TransferCounter.READ_BYTES);
    readsBefore = counted(TransferCounter.WORK_REQUESTS);
  }

  private long counted(TransferCounter counter) {
    return reader.endpoint().counters().get(counter);
  }

  private List<MapOutputLocation> fill(MemorySegment memory, int maps, int partitions) {
    List<MapOutputLocation> filled = new ArrayList<>();
    long at = 0;
    for (int slots : ScaleSamples.segmentSlots(maps, partitions)) {
      long bytes = TableSegment.bytes(slots, partitions);
      TableSegment segment =
          new TableSegment(new RemoteRegion(tables.address() + at, bytes, tables.rkey()), slots);
      MemorySegment part = memory.asSlice(at, bytes);
      for (int slot = 0; slot < slots && filled.size() < maps; slot++) {
        fill(part, segment, slot, filled.size());
        filled.add(new MapOutputLocation(filled.size(), segment, slot));
      }
      at += bytes;
    }
    return filled;
  }

  private void fill(MemorySegment part, TableSegment segment, int slot, long mapId) {
    MapOutputHeader header = new MapOutputHeader(mapId, peer.memory(), ChecksumAlgorithm.NONE);
    long[] longs = header.toLongs();
    MemorySegment.copy(longs, 0, part, LONG, TableSegment.header(slot), longs.length);
    for (int partition = 0; partition < segment.partitions(); partition++) {
      long entry = segment.entry(partition, slot);
      part.set(LONG, entry, TableEntry.first(partition * BLOCK_BYTES, BLOCK_BYTES));
      part.set(LONG, entry + Long.BYTES, TableEntry.second(BLOCK_BYTES, 0));
    }
  }

  /** Fetches a partition of all map outputs of an executor, as a reducer does. */
  void fetch(int executor, int partition) throws IOException, InterruptedException {
    String[] blockIds =
        outputs.stream()
            .map(map -> "shuffle_%d_%d_%d".formatted(executor, map.mapId(), partition))
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

  /** READs on the wire, of tables and of blocks. */
  long reads() {
    return counted(TransferCounter.WORK_REQUESTS) - readsBefore;
  }

  @Override
  public void close() {
    client.close();
    tables.close();
    arena.close();
  }

  /** Where everything is. */
  private final class Locations implements Locator {
    @Override
    public void prepare(int shuffleId) {}

    @Override
    public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
      MapOutputLocation[] found =
          Arrays.stream(mapIds)
              .mapToObj(map -> outputs.get((int) map))
              .toArray(MapOutputLocation[]::new);
      return CompletableFuture.completedFuture(new Located(peer.address(), found));
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
