// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

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
 * Blocks that an executor has for a reduce task, according to Spark's map output tracker. {@code
 * RdmaShuffleReader} makes it on the task's thread, and turns it back for Spark's iterators.
 *
 * @param blocks as Spark has them: id, estimated size in bytes (Long), and index of the map task in
 *     its stage (Integer)
 */
public record BlocksByAddress(
    BlockManagerId address, List<Tuple3<BlockId, Object, Object>> blocks) {
  int size() {
    return blocks.size();
  }

  BlockId id(int block) {
    return blocks.get(block)._1();
  }

  /** Returns the estimated size of a block in bytes. */
  long bytes(int block) {
    return (Long) blocks.get(block)._2();
  }

  /** Returns the index of the block's map task in its stage. */
  int mapIndex(int block) {
    return (Integer) blocks.get(block)._3();
  }

  /** Returns the estimated size of all blocks in bytes. */
  long bytes() {
    long bytes = 0;
    for (int block = 0; block < blocks.size(); block++) {
      bytes += bytes(block);
    }
    return bytes;
  }

  /** Returns the blocks that the tracker gives to Spark's iterator, which is used up. */
  public static List<BlocksByAddress> of(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress) {
    List<BlocksByAddress> tracked = new ArrayList<>();
    while (blocksByAddress.hasNext()) {
      var next = blocksByAddress.next();
      tracked.add(
          new BlocksByAddress(next._1(), new ArrayList<>(CollectionConverters.asJava(next._2()))));
    }
    return tracked;
  }

  /** Returns the blocks as Spark's iterator takes them. */
  public static Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> toSpark(
      Collection<BlocksByAddress> tracked) {
    return CollectionConverters.asScala(tracked.iterator()).map(BlocksByAddress::toSpark);
  }

  private Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> toSpark() {
    return new Tuple2<>(address, CollectionConverters.asScala(blocks));
  }
}
