// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static java.util.Objects.requireNonNull;

import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Blocks that fell back to Spark's own transfer, by peer and reason. An executor's {@link
 * ShuffleCounters} count in one, on any thread, once for each block. On the driver, {@link
 * ExecutorStates} sums the executors' reports in another one.
 *
 * <p>Peers come and go for as long as an application runs. Therefore only the pairs of peer and
 * reason with the most blocks are kept, and all others are one sum. Costs 300 kB at most.
 */
final class FallbacksByPeer {
  /** Number of pairs that are kept when they become twice as many. */
  static final int MAX_PAIRS = 1_000;

  /** Number of pairs in an executor's report; the tab shows half as many. */
  static final int MAX_REPORTED = 20;

  /** The most blocks first. All executors order equal ones alike, so that the driver's sums fit. */
  private static final Comparator<PeerBlocks> LARGEST_FIRST =
      Comparator.comparingLong(PeerBlocks::blocks)
          .reversed()
          .thenComparing(PeerBlocks::peer)
          .thenComparing(PeerBlocks::reason);

  private record Pair(String peer, String reason) {}

  private final Map<Pair, AtomicLong> blocks = new ConcurrentHashMap<>();
  private final AtomicLong others = new AtomicLong();

  /**
   * Counts blocks. Takes no lock, except when there are too many pairs.
   *
   * @param peer name and address of the process that they were to be READ from
   * @param reason name of a {@code FallbackReason}; an executor of a newer version may have others
   */
  void add(String peer, String reason, long count) {
    Pair pair = new Pair(peer, reason);
    AtomicLong counted = blocks.computeIfAbsent(pair, _ -> new AtomicLong());
    counted.addAndGet(count);
    if (blocks.get(pair) != counted) { // It was removed, perhaps before the addition.
      others.addAndGet(counted.getAndSet(0));
    } else if (blocks.size() > 2 * MAX_PAIRS) {
      removeSmallest();
    }
  }

  private synchronized void removeSmallest() {
    List<PeerBlocks> all = sorted();
    for (PeerBlocks smallest : all.subList(Math.min(MAX_PAIRS, all.size()), all.size())) {
      AtomicLong removed = blocks.remove(new Pair(smallest.peer(), smallest.reason()));
      others.addAndGet(requireNonNull(removed).getAndSet(0));
    }
  }

  /** Counts the blocks of an executor's report. */
  void add(PeerFallbacks report) {
    report.largest().forEach(pair -> add(pair.peer(), pair.reason(), pair.blocks()));
    others.addAndGet(report.otherBlocks());
  }

  private List<PeerBlocks> sorted() {
    List<PeerBlocks> all = new ArrayList<>();
    blocks.forEach(
        (pair, count) -> all.add(new PeerBlocks(pair.peer(), pair.reason(), count.get())));
    all.sort(LARGEST_FIRST);
    return all;
  }

  /**
   * Returns all blocks, those of the pairs with the most blocks singly.
   *
   * @param pairs limit of such pairs
   */
  synchronized PeerFallbacks largest(int pairs) {
    List<PeerBlocks> all = sorted();
    List<PeerBlocks> largest = List.copyOf(all.subList(0, Math.min(pairs, all.size())));
    long sum = others.get() + all.stream().mapToLong(PeerBlocks::blocks).sum();
    long singly = largest.stream().mapToLong(PeerBlocks::blocks).sum();
    return new PeerFallbacks(sum, largest, sum - singly);
  }
}
