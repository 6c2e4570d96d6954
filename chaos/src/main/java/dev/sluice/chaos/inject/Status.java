// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import java.util.List;
import java.util.Map;

/**
 * State of an executor, as its agent reports it. {@link ChaosBackends} creates it on the agent's
 * thread; {@code Cluster} reads it in the driver.
 *
 * @param sequence sequence of the last order that it has taken
 * @param hits how often each injection has acted since its start
 * @param servedRegions memory regions that peers may READ
 * @param readingQueuePairs queue pairs through which it READs
 * @param servingQueuePairs queue pairs through which peers READ
 * @param mostBroken maximum of outstanding READs of a queue pair that it broke on purpose
 * @param underWay READs that have no completion yet
 * @param overlaps READs so far that were posted into memory of an outstanding READ
 * @param shuffleFiles names of the shuffle files in its local directories
 * @param heapBytes bytes of live objects after the last collections
 * @param counters Sluice's counters
 */
public record Status(
    long sequence,
    Map<Injection, Long> hits,
    int servedRegions,
    int readingQueuePairs,
    int servingQueuePairs,
    long mostBroken,
    int underWay,
    long overlaps,
    List<String> shuffleFiles,
    long heapBytes,
    Map<String, Long> counters) {

  /** Returns the blocks that it has READ since its start; batch fetches may include its own. */
  public long readBlocks() {
    return counters.getOrDefault("read.blocks", 0L);
  }
}
