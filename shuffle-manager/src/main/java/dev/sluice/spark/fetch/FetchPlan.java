// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.storage.BlockManagerId;

/**
 * Decision for each executor that the map output tracker names for a reduce task: its blocks are
 * fetched in batches, or by Spark's iterator. {@code RdmaShuffleReader} makes it on the task's
 * thread, and {@link RdmaBlockFetcherIterator} carries it out.
 *
 * @param groups blocks for batch fetches
 * @param rest all other blocks
 */
public record FetchPlan(List<ExecutorBlocks> groups, List<BlocksByAddress> rest) {
  /** Way in which an executor's blocks may come. */
  public enum Source {
    LOCAL,
    REMOTE,
    /** Only as Spark fetches blocks. */
    SPARK
  }

  /**
   * @param batch as in {@link ExecutorBlocks#of}
   */
  public static FetchPlan of(
      List<BlocksByAddress> tracked, Function<BlockManagerId, Source> sources, boolean batch) {
    FetchPlan plan = new FetchPlan(new ArrayList<>(), new ArrayList<>());
    for (BlocksByAddress blocks : tracked) {
      Source source = sources.apply(blocks.address());
      ExecutorBlocks group =
          source == Source.SPARK ? null : ExecutorBlocks.of(blocks, source == Source.LOCAL, batch);
      if (group == null) {
        plan.rest.add(blocks);
      } else {
        plan.groups.add(group);
      }
    }
    // As in Spark's iterator: tasks that start together do not all ask the same executor first.
    Collections.shuffle(plan.groups);
    return plan;
  }
}
