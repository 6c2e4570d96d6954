package dev.sluice.benchmarks.scale;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.read.CountedTables;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.apache.spark.network.shuffle.protocol.FetchShuffleBlocks;

/**
 * What grows with partitions: the partition tables that an executor registers, and what its
 * reducers READ of those of others before they can READ a block. The partner is Spark's transfer,
 * whose reducers name each block to a server that knows where it is.
 *
 * <p>Reducers of an executor run one after the other, and each fetches from all executors in turn.
 */
record TableScale(int executors, int maps, int partitions, int rounds) {
  /** spark.shuffle.rdma.offsets.cacheBytes, as it is by default. */
  private static final long CACHE_BYTES = 32 << 20;

  /** What asks for one block once the server has opened it: ChunkFetchRequest with its frame. */
  private static final int CHUNK_REQUEST_BYTES = 8 + 1 + 8 + 4;

  private static final String SPARK = "spark-transfer";

  void measure(Pairs pairs) throws Exception {
    double tableBytes = (partitions + 1.0) * PartitionTable.ENTRY_BYTES;
    pairs.less(
        "scale-partitions-%d-table".formatted(partitions),
        "B/map",
        tableBytes,
        "index-file",
        (partitions + 1.0) * Long.BYTES);
    int reducers = Math.max(1, partitions / executors);
    // As Spark hands tasks out: to whoever is free, so that E executors get every E-th each.
    IntUnaryOperator spread = i -> i * executors % partitions;
    IntUnaryOperator adjacent = i -> i;
    for (int round = 0; round < rounds; round++) {
      read(reducers, spread, CACHE_BYTES, "spread", pairs);
      read(reducers, adjacent, CACHE_BYTES, "adjacent", pairs);
      read(reducers, adjacent, Long.MAX_VALUE, "adjacent-cached", pairs);
    }
  }

  private void read(
      int reducers, IntUnaryOperator partition, long cacheBytes, String which, Pairs pairs)
      throws Exception {
    CountedTables[] tables = new CountedTables[1];
    long heap =
        Heap.retainedBytes(
            () -> {
              tables[0] = new CountedTables(ScaleSamples.SHUFFLE, cacheBytes);
              for (int i = 0; i < reducers; i++) {
                reduce(tables[0], partition.applyAsInt(i));
              }
              return tables;
            });
    double blocks = (double) reducers * maps;
    String name = "scale-partitions-%d-%s-".formatted(partitions, which);
    pairs.less(name + "metadata", "B/block", tables[0].bytes() / blocks, SPARK, requestBytes());
    pairs.less(name + "reads", "1/block", 1 + tables[0].workRequests() / blocks, SPARK, 1);
    pairs.less(
        name + "cache-heap",
        "MB",
        heap / 1e6,
        "as-accounted",
        tables[0].accountedHeapBytes() / 1e6);
  }

  private void reduce(CountedTables tables, int partition) {
    for (int executor = 0; executor < executors; executor++) {
      List<MapOutputLocation> outputs = ScaleSamples.outputs(executor, executors, maps, partitions);
      PeerAddress peer =
          new PeerAddress("" + executor, ScaleSamples.host(executor), ScaleSamples.PORT);
      tables.find(peer, outputs, partition);
    }
  }

  /** What Spark's client sends for a block of all that one executor has for a reducer. */
  private double requestBytes() {
    long[] mapIds =
        ScaleSamples.outputs(0, executors, maps, partitions).stream()
            .mapToLong(MapOutputLocation::mapId)
            .toArray();
    int[][] reduceIds = new int[mapIds.length][1];
    FetchShuffleBlocks request =
        new FetchShuffleBlocks(
            "app-20260101000000-0000", "0", ScaleSamples.SHUFFLE, mapIds, reduceIds, false);
    return (double) request.toByteBuffer().remaining() / mapIds.length + CHUNK_REQUEST_BYTES;
  }
}
