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
 */
public record BlocksByAddress(BlockManagerId address, List<Block> blocks) {
  /**
   * @param bytes estimated size
   * @param mapIndex index of the map task in its stage
   */
  public record Block(BlockId id, long bytes, int mapIndex) {
    private static Block of(Tuple3<BlockId, Object, Object> tracked) {
      return new Block(tracked._1(), (Long) tracked._2(), (Integer) tracked._3());
    }

    private Tuple3<BlockId, Object, Object> toSpark() {
      return new Tuple3<>(id, bytes, mapIndex);
    }
  }

  /** Returns the estimated size in bytes. */
  long bytes() {
    return blocks.stream().mapToLong(Block::bytes).sum();
  }

  /** Returns the blocks that the tracker gives to Spark's iterator, which is used up. */
  public static List<BlocksByAddress> of(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress) {
    List<BlocksByAddress> tracked = new ArrayList<>();
    while (blocksByAddress.hasNext()) {
      var of = blocksByAddress.next();
      List<Block> blocks = new ArrayList<>(of._2().size());
      CollectionConverters.asJava(of._2()).forEach(block -> blocks.add(Block.of(block)));
      tracked.add(new BlocksByAddress(of._1(), blocks));
    }
    return tracked;
  }

  /** Returns the blocks as Spark's iterator takes them. */
  public static Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> toSpark(
      Collection<BlocksByAddress> tracked) {
    return CollectionConverters.asScala(tracked.iterator()).map(BlocksByAddress::toSpark);
  }

  private Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> toSpark() {
    List<Tuple3<BlockId, Object, Object>> asTracked = blocks.stream().map(Block::toSpark).toList();
    return new Tuple2<>(address, CollectionConverters.asScala(asTracked));
  }
}
