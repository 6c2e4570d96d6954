// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.table.BlockList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that Spark requested of one executor, in the order in which they lie there. {@link
 * ReadAttempt} and {@link RdmaBlockStoreClient} make it; immutable. Indexes are of this order, not
 * of Spark's request.
 */
final class RequestedBlocks implements BlockList {
  private static final Comparator<RequestedBlock> BY_PLACE =
      Comparator.comparingLong(RequestedBlock::mapId)
          .thenComparingInt(RequestedBlock::startPartition);

  private final List<RequestedBlock> blocks;
  private final long[] mapIds;

  /**
   * @param blocks blocks of one shuffle
   */
  RequestedBlocks(List<RequestedBlock> blocks) {
    this.blocks = blocks.stream().sorted(BY_PLACE).toList();
    this.mapIds = this.blocks.stream().mapToLong(RequestedBlock::mapId).toArray();
  }

  /** Returns the block of these partitions of a map output; null if it was not requested. */
  @Nullable RequestedBlock find(long mapId, int startPartition, int endPartition) {
    RequestedBlock wanted =
        new RequestedBlock(
            "", shuffleId(), mapId, startPartition, endPartition, new AtomicBoolean());
    int at = Collections.binarySearch(blocks, wanted, BY_PLACE);
    return at >= 0 && blocks.get(at).endPartition() == endPartition ? blocks.get(at) : null;
  }

  RequestedBlock get(int block) {
    return blocks.get(block);
  }

  @Override
  public int shuffleId() {
    return blocks.getFirst().shuffleId();
  }

  @Override
  public int size() {
    return blocks.size();
  }

  @Override
  public long[] mapIds() {
    return mapIds;
  }

  @Override
  public int startPartition(int block) {
    return blocks.get(block).startPartition();
  }

  @Override
  public int endPartition(int block) {
    return blocks.get(block).endPartition();
  }

  /** Spark tells its clients no sizes. */
  @Override
  public long meanBytes() {
    return 0;
  }

  @Override
  public String name(int block) {
    return blocks.get(block).id();
  }
}
