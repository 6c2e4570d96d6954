package dev.sluice.spark.table;

/**
 * Blocks of one shuffle that one executor has, by their place in the list: partitions [start, end)
 * of a map output each, one after the other in memory and as they are READ.
 */
public interface BlockList {
  int shuffleId();

  /** Number of blocks. */
  int size();

  /** Map ids of all blocks; not to be changed. */
  long[] mapIds();

  int startPartition(int block);

  int endPartition(int block);

  /** Spark's name of the block. */
  String name(int block);
}
