package dev.sluice.benchmarks.jmh;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.blocks.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.spark.read.OffsetLookup;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Offset and length of a block by the pages of its map output's table, beside a plain array. */
@State(Scope.Thread)
public class OffsetLookupBenchmark {
  private static final int PARTITIONS = 10_000;
  private static final int STEP = 7919;

  private final long[] offsets = new long[PARTITIONS + 1];
  private final OffsetLookup lookup;
  private int partition;

  public OffsetLookupBenchmark() {
    Arrays.setAll(offsets, i -> 1000L * i);
    long tableBytes = (long) offsets.length * PartitionTable.ENTRY_BYTES;
    lookup =
        new OffsetLookup(
            new MapOutputLocation(
                1,
                new RemoteRegion(1 << 20, 1000L * PARTITIONS, 1),
                new RemoteRegion(1 << 30, tableBytes, 2),
                ChecksumAlgorithm.CRC32C),
            offsets);
  }

  private int nextPartition() {
    partition = (partition + STEP) % PARTITIONS;
    return partition;
  }

  @Benchmark
  public long find() {
    return lookup.find(nextPartition());
  }

  @Benchmark
  public long findBaseline() {
    int next = nextPartition();
    return offsets[next] + (offsets[next + 1] - offsets[next]);
  }
}
