package dev.sluice.spark.gather;

import dev.sluice.spark.table.BlockList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * The blocks that one executor has for a reduce task, in arrays: a task may have 100,000 of them. A
 * member is what Spark would fetch and count as one block, partitions [start, end) of a map output.
 * Each member is either delivered in a {@link Chunk} or left to Spark's iterator, as {@link #leave}
 * says. Immutable but for that; any thread.
 */
public final class BlockGroup implements BlockList {
  private final TrackedBlocks tracked;
  private final boolean local;
  private final BitSet left = new BitSet();
  private final BitSet taken = new BitSet();
  private volatile boolean hasLeft;
  private int delivered;
  private int shuffleId;
  private int size;
  private long estimatedBytes;
  private int[] firstBlocks;
  private long[] mapIds;
  private int[] startPartitions;
  private int[] endPartitions;

  private BlockGroup(TrackedBlocks tracked, boolean local) {
    int blocks = tracked.blocks().size();
    this.tracked = tracked;
    this.local = local;
    firstBlocks = new int[blocks + 1];
    mapIds = new long[blocks];
    startPartitions = new int[blocks];
    endPartitions = new int[blocks];
  }

  /**
   * @param local whether it is this executor that has them
   * @param batch whether partitions of the same map output are one member, as where Spark fetches
   *     them in batches
   * @return null where there are none, or of another kind, or sizes such as Spark does not accept
   */
  public static BlockGroup of(TrackedBlocks tracked, boolean local, boolean batch) {
    BlockGroup group = new BlockGroup(tracked, local);
    int added = 0;
    for (TrackedBlocks.Block block : tracked.blocks()) {
      if (!group.add(added, block, batch)) {
        return null;
      }
      added++;
      group.firstBlocks[group.size] = added;
    }
    group.trim();
    return added == 0 ? null : group;
  }

  private boolean add(int index, TrackedBlocks.Block block, boolean batch) {
    estimatedBytes += block.bytes();
    return block.bytes() > 0
        && switch (block.id()) {
          case ShuffleBlockId id ->
              add(index, id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1, batch);
          case ShuffleBlockBatchId id ->
              add(index, id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId(), batch);
          default -> false;
        };
  }

  private boolean add(int index, int shuffle, long mapId, int start, int end, boolean batch) {
    if (size > 0 && shuffle != shuffleId) {
      return false;
    }
    shuffleId = shuffle;
    if (batch && size > 0 && mapIds[size - 1] == mapId && endPartitions[size - 1] <= start) {
      endPartitions[size - 1] = end;
      return true;
    }
    firstBlocks[size] = index;
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

  /** All blocks, as the tracker has them. */
  TrackedBlocks tracked() {
    return tracked;
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

  /** Of a member that is a batch, its first block's. */
  @Override
  public String name(int member) {
    return blockId(member).name();
  }

  BlockId blockId(int member) {
    return tracked.blocks().get(firstBlocks[member]).id();
  }

  int mapIndex(int member) {
    return tracked.blocks().get(firstBlocks[member]).mapIndex();
  }

  long estimatedBytes() {
    return estimatedBytes;
  }

  /** Of a member, as estimated. */
  public long meanBytes() {
    return estimatedBytes / size;
  }

  /** Leaves members to Spark's iterator, but for those that it has already. */
  public synchronized void leave(BitSet members) {
    left.or(members);
    left.andNot(taken);
    hasLeft = !left.isEmpty();
  }

  /** Whether {@link #takeLeft} gives something. */
  boolean hasLeft() {
    return hasLeft;
  }

  /** Of the members that were left, as they are on average. */
  synchronized long leftBytes() {
    return left.cardinality() * meanBytes();
  }

  /** The blocks of the members that were left to Spark since the last call. */
  synchronized TrackedBlocks takeLeft() {
    List<TrackedBlocks.Block> result = new ArrayList<>();
    for (int i = left.nextSetBit(0); i >= 0; i = left.nextSetBit(i + 1)) {
      result.addAll(tracked.blocks().subList(firstBlocks[i], firstBlocks[i + 1]));
    }
    taken.or(left);
    left.clear();
    hasLeft = false;
    return new TrackedBlocks(tracked.address(), result);
  }

  /** So many members came in a chunk. For the task's thread. */
  void delivered(int members) {
    delivered += members;
  }

  /** Whether each member was delivered, or taken by Spark's iterator. For the task's thread. */
  synchronized boolean isComplete() {
    return delivered + taken.cardinality() == size;
  }
}
