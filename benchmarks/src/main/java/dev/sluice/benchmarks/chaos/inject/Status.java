package dev.sluice.benchmarks.chaos.inject;

import java.util.List;
import java.util.Map;

/**
 * What an executor holds.
 *
 * @param sequence of the order that it has taken
 * @param hits how often what was ordered has gone wrong since its start
 * @param servedRegions memory regions that peers may READ
 * @param readingQueuePairs queue pairs that it READs through
 * @param servingQueuePairs queue pairs that it serves
 * @param mostBroken the most READs under way in a queue pair that it broke on purpose
 * @param underWay READs that have no completion yet
 * @param overlaps READs so far that were posted into memory that another one had not left yet
 * @param shuffleFiles names of the shuffle files in its local directories
 * @param heapBytes what was live in its heap when that was collected last
 * @param counters Sluice's
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

  /** Blocks that it has READ from others since its start; gathered ones may be its own. */
  public long readBlocks() {
    return counters.getOrDefault("read.blocks", 0L);
  }
}
