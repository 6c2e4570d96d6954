// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A block that Spark requested: partitions [startPartition, endPartition) of a map output. {@link
 * RdmaBlockStoreClient} parses it from its name. The caller that claims it answers it, so that it
 * gets exactly one answer. {@link FetchCall} alone claims blocks, on any thread.
 */
record RequestedBlock(
    String id,
    int shuffleId,
    long mapId,
    int startPartition,
    int endPartition,
    AtomicBoolean claimed) {
  private static final String PREFIX = "shuffle_";

  /**
   * Parses the names of Spark's ShuffleBlockId ({@code shuffle_S_M_R}) and ShuffleBlockBatchId
   * ({@code shuffle_S_M_R_E}, partitions R to E - 1).
   *
   * @return null for any other kind of block
   */
  static @Nullable RequestedBlock parse(String id) {
    if (!id.startsWith(PREFIX)) {
      return null;
    }
    String[] fields = id.substring(PREFIX.length()).split("_");
    if (fields.length != 3 && fields.length != 4) {
      return null;
    }
    try {
      int start = Integer.parseInt(fields[2]);
      int end = fields.length == 4 ? Integer.parseInt(fields[3]) : start + 1;
      if (start < 0 || end <= start) {
        return null;
      }
      int shuffleId = Integer.parseInt(fields[0]);
      long mapId = Long.parseLong(fields[1]);
      return new RequestedBlock(id, shuffleId, mapId, start, end, new AtomicBoolean());
    } catch (NumberFormatException _) {
      return null;
    }
  }

  /** Returns true for exactly one caller, which then answers the block. */
  boolean claim() {
    return claimed.compareAndSet(false, true);
  }

  boolean isPending() {
    return !claimed.get();
  }

  @Override
  public String toString() {
    return id;
  }
}
