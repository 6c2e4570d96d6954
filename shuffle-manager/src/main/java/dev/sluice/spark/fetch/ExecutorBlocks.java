// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.table.BlockList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.jspecify.annotations.Nullable;
import scala.Tuple3;

/**
 * Blocks that one executor has for a reduce task, in arrays: a task may have 100,000 of them. A
 * member is a block as Spark would fetch and count it: partitions [start, end) of a map output.
 * Each member is either delivered in a {@link FetchedBatch} or left to Spark's iterator by {@link
 * #leave}.
 *
 * <p>{@link RdmaBlockFetcherIterator} makes it on the task's thread. The arrays do not change after
 * {@link #of}, and any thread reads them. Any thread calls {@link #leave}, even with the lock of a
 * {@link RemoteBatches}: this class must call nothing else with its own lock.
 */
public final class ExecutorBlocks implements BlockList {
  private final BlocksByAddress tracked;
  private final boolean local;

  /** Members that were left and not taken yet; guarded by this, as the next two fields. */
  private final BitSet left = new BitSet();

  /** Members that Spark's iterator fetches without a READ, as their READs are late. */
  private final BitSet late = new BitSet();

  /** Members that Spark's iterator has. */
  private final BitSet taken = new BitSet();

  /** True if a member is left; spares the reader the lock for each batch. */
  private volatile boolean hasLeft;

  /** Number of members that came in batches. The task's thread alone uses it. */
  private int delivered;

  private int shuffleId;
  private int size;
  private long estimatedBytes;

  /** Index of each member's first block in the tracker's list; the number of blocks at the end. */
  private int[] firstBlocks;

  private long[] mapIds;
  private int[] startPartitions;
  private int[] endPartitions;

  private ExecutorBlocks(BlocksByAddress tracked, boolean local) {
    int blocks = tracked.size();
    this.tracked = tracked;
    this.local = local;
    firstBlocks = new int[blocks + 1];
    mapIds = new long[blocks];
    startPartitions = new int[blocks];
    endPartitions = new int[blocks];
  }

  /**
   * @param local true if this executor has the blocks
   * @param batch true to make partitions of the same map output one member, as Spark's batch fetch
   *     does
   * @return null if there are no blocks, blocks of another kind, or sizes that Spark does not
   *     accept
   */
  public static @Nullable ExecutorBlocks of(BlocksByAddress tracked, boolean local, boolean batch) {
    ExecutorBlocks group = new ExecutorBlocks(tracked, local);
    for (int block = 0; block < tracked.size(); block++) {
      if (!group.add(block, batch)) {
        return null;
      }
      group.firstBlocks[group.size] = block + 1;
    }
    group.trim();
    return group.size == 0 ? null : group;
  }

  private boolean add(int block, boolean batch) {
    long bytes = tracked.bytes(block);
    estimatedBytes += bytes;
    return bytes > 0
        && switch (tracked.id(block)) {
          case ShuffleBlockId id ->
              add(block, id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1, batch);
          case ShuffleBlockBatchId id ->
              add(block, id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId(), batch);
          default -> false;
        };
  }

  private boolean add(int block, int shuffle, long mapId, int start, int end, boolean batch) {
    if (size > 0 && shuffle != shuffleId) {
      return false;
    }
    shuffleId = shuffle;
    if (batch && size > 0 && mapIds[size - 1] == mapId && endPartitions[size - 1] <= start) {
      endPartitions[size - 1] = end;
      return true;
    }
    firstBlocks[size] = block;
    mapIds[size] = mapId;
    startPartitions[size] = start;
    endPartitions[size] = end;
    size++;
    return true;
  }

  private void trim() {
    if (size < mapIds.length) {
      firstBlocks = Arrays.copyOf(firstBlocks, size + 1);
      mapIds = Arrays.copyOf(mapIds, size);
      startPartitions = Arrays.copyOf(startPartitions, size);
      endPartitions = Arrays.copyOf(endPartitions, size);
    }
  }

  public BlockManagerId address() {
    return tracked.address();
  }

  boolean isLocal() {
    return local;
  }

  @Override
  public int shuffleId() {
    return shuffleId;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public long[] mapIds() {
    return mapIds;
  }

  long mapId(int member) {
    return mapIds[member];
  }

  @Override
  public int startPartition(int member) {
    return startPartitions[member];
  }

  @Override
  public int endPartition(int member) {
    return endPartitions[member];
  }

  /** Returns the member's name; for a batch, the name of its first block. */
  @Override
  public String name(int member) {
    return blockId(member).name();
  }

  BlockId blockId(int member) {
    return tracked.id(firstBlocks[member]);
  }

  int mapIndex(int member) {
    return tracked.mapIndex(firstBlocks[member]);
  }

  long estimatedBytes() {
    return estimatedBytes;
  }

  /** Returns the estimated size of a member in bytes. */
  long estimatedBytes(int member) {
    long bytes = 0;
    for (int block = firstBlocks[member]; block < firstBlocks[member + 1]; block++) {
      bytes += tracked.bytes(block);
    }
    return bytes;
  }

  @Override
  public long meanBytes() {
    return estimatedBytes / size;
  }

  /** Leaves members to Spark's iterator, except for those that it has already. */
  public synchronized void leave(BitSet members) {
    left.or(members);
    left.andNot(taken);
    hasLeft = !left.isEmpty();
  }

  /** Leaves members as {@link #leave} does, but Spark's iterator fetches them without a READ. */
  synchronized void leaveLate(BitSet members) {
    late.or(members);
    leave(members);
  }

  /** Returns true if {@link #takeLeft} has blocks to return. */
  boolean hasLeft() {
    return hasLeft;
  }

  /**
   * Returns the estimated size in bytes of the members that {@link #takeLeft} returns; 0 for none.
   */
  synchronized long leftBytes(boolean isLate) {
    return left(isLate).cardinality() * meanBytes();
  }

  private BitSet left(boolean isLate) {
    BitSet members = (BitSet) left.clone();
    if (isLate) {
      members.and(late);
    } else {
      members.andNot(late);
    }
    return members;
  }

  /**
   * Returns the blocks of the members that were left to Spark since the last call.
   *
   * @param isLate true for those that are fetched without a READ, false for the others
   */
  synchronized BlocksByAddress takeLeft(boolean isLate) {
    BitSet members = left(isLate);
    List<Tuple3<BlockId, Object, Object>> result = new ArrayList<>();
    for (int i = members.nextSetBit(0); i >= 0; i = members.nextSetBit(i + 1)) {
      result.addAll(tracked.blocks().subList(firstBlocks[i], firstBlocks[i + 1]));
    }
    taken.or(members);
    left.andNot(members);
    hasLeft = !left.isEmpty();
    return new BlocksByAddress(tracked.address(), result);
  }

  /** Counts members that came in a batch. Called on the task's thread. */
  void delivered(int members) {
    delivered += members;
  }

  /** Returns true if each member was delivered or taken by Spark. Called on the task's thread. */
  synchronized boolean isComplete() {
    return delivered + taken.cardinality() == size;
  }
}
