package dev.sluice.spark.gather;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.storage.BlockManagerId;

/**
 * Decision for each executor that the map output tracker names for a reduce task: its blocks are
 * fetched in batches, or by Spark's iterator. {@code RdmaShuffleReader} makes it on the task's
 * thread, and {@link GatheredBlocks} carries it out.
 *
 * @param groups blocks for batch fetches
 * @param rest all other blocks
 */
public record GatherPlan(List<BlockGroup> groups, List<TrackedBlocks> rest) {
  /** Way in which an executor's blocks may come. */
  public enum Source {
    LOCAL,
    REMOTE,
    /** Only as Spark fetches blocks. */
    SPARK
  }

  /**
   * @param batch as in {@link BlockGroup#of}
   */
  public static GatherPlan of(
      List<TrackedBlocks> tracked, Function<BlockManagerId, Source> sources, boolean batch) {
    GatherPlan plan = new GatherPlan(new ArrayList<>(), new ArrayList<>());
    for (TrackedBlocks blocks : tracked) {
      Source source = sources.apply(blocks.address());
      BlockGroup group =
          source == Source.SPARK ? null : BlockGroup.of(blocks, source == Source.LOCAL, batch);
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
