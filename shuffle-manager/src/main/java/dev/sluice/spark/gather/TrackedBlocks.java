package dev.sluice.spark.gather;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Blocks that an executor has for a reduce task, as Spark's map output tracker says.
 *
 * @param blocks id, estimated size and map index of each, by their place
 */
public record TrackedBlocks(BlockManagerId address, List<Tuple3<BlockId, Object, Object>> blocks) {

  /** What the tracker gives to Spark's iterator, which is used up. */
  public static List<TrackedBlocks> of(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress) {
    List<TrackedBlocks> tracked = new ArrayList<>();
    while (blocksByAddress.hasNext()) {
      var blocks = blocksByAddress.next();
      // The tracker's are linked lists.
      tracked.add(
          new TrackedBlocks(
              blocks._1(), new ArrayList<>(CollectionConverters.asJava(blocks._2()))));
    }
    return tracked;
  }

  /** As Spark's iterator takes them. */
  public static Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> toSpark(
      Collection<TrackedBlocks> tracked) {
    return CollectionConverters.asScala(tracked.iterator())
        .map(of -> new Tuple2<>(of.address(), CollectionConverters.asScala(of.blocks())));
  }
}
