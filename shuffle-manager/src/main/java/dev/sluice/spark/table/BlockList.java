// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

/**
 * Blocks of one shuffle that one executor has, by index. Each block is partitions [start, end) of
 * one map output, which lie one after the other in memory and are READ in this order. {@code
 * ExecutorBlocks} and {@code RequestedBlocks} implement it. Implementations must not change: any
 * thread calls them without a lock.
 */
public interface BlockList {
  int shuffleId();

  /** Number of blocks. */
  int size();

  /** Map ids of all blocks; callers must not change the array. */
  long[] mapIds();

  int startPartition(int block);

  int endPartition(int block);

  /** Returns the estimated mean size of a block in bytes; 0 if there is no estimate. */
  long meanBytes();

  /** Returns Spark's name of the block. */
  String name(int block);
}
