package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.blocks.wire.MapOutputHeader;
import java.io.IOException;
import java.util.stream.LongStream;
import org.apache.spark.network.shuffle.protocol.FetchShuffleBlocks;

/**
 * What grows with partitions: the partition tables that an executor registers, and what its
 * reducers READ of those of others before they can READ a block. The partner is Spark's transfer,
 * whose reducers name each block to a server that knows where it is.
 *
 * <p>Reducers of an executor run one after the other, and each fetches from all executors in turn:
 * by Sluice's own client and the software provider, from one peer for all of them. They are spread
 * as Spark spreads them, so that of E executors each has every E-th.
 */
record TableScale(int executors, int maps, int partitions, int rounds) {
  /** What asks for one block once the server has opened it: ChunkFetchRequest with its frame. */
  private static final int CHUNK_REQUEST_BYTES = 8 + 1 + 8 + 4;

  private static final String SPARK = "spark-transfer";

  void measure(Pairs pairs) throws Exception {
    table("4-maps-table", 4, pairs);
    table("table", maps / executors, pairs);
    try (ExecutorGroup group = ExecutorGroup.start(2)) {
      group.connect(1); // what a connection needs is not the tables'
      for (int round = 0; round < rounds; round++) {
        read(group, pairs);
      }
    }
  }

  /** What an executor with so many map outputs registers of tables. */
  private void table(String what, int outputs, Pairs pairs) {
    pairs.less(
        name() + what,
        "B/map",
        (double) ScaleSamples.segmentBytes(outputs, partitions) / outputs,
        "index-file",
        (partitions + 1.0) * Long.BYTES);
  }

  private String name() {
    return "scale-partitions-%d-".formatted(partitions);
  }

  private void read(ExecutorGroup group, Pairs pairs) throws Exception {
    int outputs = maps / executors;
    int reducers = Math.max(1, partitions / executors);
    try (TableReads tables = new TableReads(group.get(0), group.get(1), outputs, partitions)) {
      long heap =
          Heap.retainedBytes(
              () -> {
                for (int reducer = 0; reducer < reducers; reducer++) {
                  reduce(tables, reducer * executors % partitions);
                }
                return tables;
              });
      double blocks = (double) reducers * outputs * executors;
      pairs.less(
          name() + "metadata", "B/block", tables.tableBytes() / blocks, SPARK, requestBytes());
      pairs.less(name() + "reads", "1/block", tables.reads() / blocks, SPARK, 1);
      double headers = (double) outputs * executors * MapOutputHeader.BYTES;
      pairs.less(name() + "header-heap", "MB", heap / 1e6, "headers", headers / 1e6);
    }
  }

  private void reduce(TableReads tables, int partition) throws IOException, InterruptedException {
    for (int executor = 0; executor < executors; executor++) {
      tables.fetch(executor, partition);
    }
  }

  /** What Spark's client sends for a block of all that one executor has for a reducer. */
  private double requestBytes() {
    long[] mapIds = LongStream.range(0, maps / executors).toArray();
    int[][] reduceIds = new int[mapIds.length][1];
    FetchShuffleBlocks request =
        new FetchShuffleBlocks(
            "app-20260101000000-0000", "0", ScaleSamples.SHUFFLE, mapIds, reduceIds, false);
    return (double) request.toByteBuffer().remaining() / mapIds.length + CHUNK_REQUEST_BYTES;
  }
}
