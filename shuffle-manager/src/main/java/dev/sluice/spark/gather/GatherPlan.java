package dev.sluice.spark.gather;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.storage.BlockManagerId;

/**
 * What becomes of the blocks that the map output tracker names for a reduce task: an executor's are
 * gathered, or go to Spark's iterator as they are.
 *
 * @param groups what is gathered
 * @param rest everything else
 */
public record GatherPlan(List<BlockGroup> groups, List<TrackedBlocks> rest) {
  /** How an executor's blocks may come. */
  public enum Source {
    LOCAL,
    REMOTE,
    /** Only as Spark fetches them. */
    SPARK
  }

  /**
   * @param batch {@link BlockGroup#of}
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
    // As Spark's iterator: tasks that start together do not all ask the same executor first.
    Collections.shuffle(plan.groups);
    return plan;
  }
}
