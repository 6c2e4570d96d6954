// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Counts blocks and bytes by path. The executor's runtime makes one. Readers and hand-overs count
 * on any thread, without a lock. Blocks and bytes of one arrival may differ for a moment.
 */
public final class ShuffleCounters {
  private static final String FALLBACK_BLOCKS = "fallback.blocks.";
  private static final String FALLBACK_BYTES = "fallback.bytes.";

  private final Counters<ShuffleCounter> counters = new Counters<>(ShuffleCounter.class);
  private final Counters<FallbackReason> fallbackBlocks = new Counters<>(FallbackReason.class);
  private final Counters<FallbackReason> fallbackBytes = new Counters<>(FallbackReason.class);
  private final FallbacksByPeer fallbacksByPeer = new FallbacksByPeer();

  public void add(ShuffleCounter counter, long value) {
    counters.add(counter, value);
  }

  /** Counts blocks that arrived by READ. */
  public void read(long blocks, long bytes) {
    add(ShuffleCounter.READ_BLOCKS, blocks);
    add(ShuffleCounter.READ_BYTES, bytes);
  }

  /**
   * Counts blocks that Spark's own transport has answered.
   *
   * @param peer name and address of the process that they were to be READ from
   */
  public void fallback(FallbackReason reason, String peer, long blocks) {
    fallbackBlocks.add(reason, blocks);
    fallbacksByPeer.add(peer, reason.name(), blocks);
  }

  /** Counts bytes that arrived by Spark's own transport. */
  public void fallbackBytes(FallbackReason reason, long bytes) {
    fallbackBytes.add(reason, bytes);
  }

  FallbacksByPeer fallbacksByPeer() {
    return fallbacksByPeer;
  }

  /** Returns all counters by the names of {@link #descriptions}. */
  public Map<String, LongSupplier> byName() {
    Map<String, LongSupplier> all = counters.byName(ShuffleCounter::key);
    all.putAll(fallbackBlocks.byName(reason -> FALLBACK_BLOCKS + reason));
    all.putAll(fallbackBytes.byName(reason -> FALLBACK_BYTES + reason));
    return all;
  }

  /** Returns the descriptions of all counters by name. */
  static Map<String, CounterDescription> descriptions() {
    Map<String, CounterDescription> all = new TreeMap<>();
    for (ShuffleCounter counter : ShuffleCounter.values()) {
      all.put(counter.key(), counter.description());
    }
    for (FallbackReason reason : FallbackReason.values()) {
      String why = "Spark's own transfer for the reason `" + reason + "`.";
      all.put(
          FALLBACK_BLOCKS + reason,
          CounterDescription.total("blocks", "Blocks that fell back to " + why));
      all.put(
          FALLBACK_BYTES + reason,
          CounterDescription.total("bytes", "Bytes that arrived by " + why));
    }
    return all;
  }

  /** Returns the number of blocks by any path, from values of {@link #byName}. */
  static long blocks(Map<String, Long> counters) {
    return counters.entrySet().stream()
        .filter(
            counter ->
                counter.getKey().equals(ShuffleCounter.READ_BLOCKS.key())
                    || counter.getKey().equals(ShuffleCounter.LOCAL_BLOCKS.key())
                    || counter.getKey().startsWith(FALLBACK_BLOCKS))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
