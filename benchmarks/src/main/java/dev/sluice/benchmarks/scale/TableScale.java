package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.blocks.wire.PartitionTable;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.network.shuffle.protocol.FetchShuffleBlocks;

/**
 * What grows with partitions: the partition tables that an executor registers, and what its
 * reducers READ of those of others before they can READ a block. The partner is Spark's transfer,
 * whose reducers name each block to a server that knows where it is.
 *
 * <p>Reducers of an executor run one after the other, and each fetches from all executors in turn:
 * by Sluice's own client and the software provider, from one peer for all of them.
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
    try (ExecutorGroup group = ExecutorGroup.start(2)) {
      group.connect(1); // what a connection needs is not the cache's
      for (int round = 0; round < rounds; round++) {
        read(group, reducers, spread, CACHE_BYTES, "spread", pairs);
        read(group, reducers, adjacent, CACHE_BYTES, "adjacent", pairs);
        read(group, reducers, adjacent, Long.MAX_VALUE, "adjacent-cached", pairs);
      }
    }
  }

  private void read(
      ExecutorGroup group,
      int reducers,
      IntUnaryOperator partition,
      long cacheBytes,
      String which,
      Pairs pairs)
      throws Exception {
    try (TableReads tables = new TableReads(group.get(0), group.get(1), partitions, cacheBytes)) {
      int[] reduced = IntStream.range(0, reducers).map(partition).toArray();
      long heap =
          Heap.retainedBytes(
              () -> {
                for (int reducer : reduced) {
                  reduce(tables, reducer);
                }
                return tables;
              });
      double blocks = (double) reducers * maps;
      String name = "scale-partitions-%d-%s-".formatted(partitions, which);
      pairs.less(name + "metadata", "B/block", tables.tableBytes() / blocks, SPARK, requestBytes());
      pairs.less(name + "reads", "1/block", tables.reads() / blocks, SPARK, 1);
      long pages = maps * Arrays.stream(reduced).map(ScaleModel::page).distinct().count();
      double accounted = Math.min(cacheBytes, pages * ScaleModel.PAGE_HEAP_BYTES);
      pairs.less(name + "cache-heap", "MB", heap / 1e6, "as-accounted", accounted / 1e6);
    }
  }

  private void reduce(TableReads tables, int partition) throws IOException, InterruptedException {
    for (int executor = 0; executor < executors; executor++) {
      tables.fetch(mapsOf(executor), partition);
    }
  }

  private LongStream mapsOf(int executor) {
    return LongStream.iterate(executor, map -> map < maps, map -> map + executors);
  }

  /** What Spark's client sends for a block of all that one executor has for a reducer. */
  private double requestBytes() {
    long[] mapIds = mapsOf(0).toArray();
    int[][] reduceIds = new int[mapIds.length][1];
    FetchShuffleBlocks request =
        new FetchShuffleBlocks(
            "app-20260101000000-0000", "0", ScaleSamples.SHUFFLE, mapIds, reduceIds, false);
    return (double) request.toByteBuffer().remaining() / mapIds.length + CHUNK_REQUEST_BYTES;
  }
}
