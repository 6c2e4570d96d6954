// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.spark.transport.FallbackReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts blocks and bytes by path. The executor's runtime makes one; reading, hand-overs and their
 * tasks count on any thread, without a lock. Blocks and bytes of one arrival may differ for a
 * moment.
 */
public final class ShuffleCounters {
  private static final String FALLBACK_BLOCKS = "fallback.blocks.";
  private static final String FALLBACK_BYTES = "fallback.bytes.";

  private final Map<ShuffleCounter, LongAdder> counters = adders(ShuffleCounter.class);
  private final Map<FallbackReason, LongAdder> fallbackBlocks = adders(FallbackReason.class);
  private final Map<FallbackReason, LongAdder> fallbackBytes = adders(FallbackReason.class);

  private static <E extends Enum<E>> Map<E, LongAdder> adders(Class<E> keys) {
    Map<E, LongAdder> adders = new EnumMap<>(keys);
    for (E key : keys.getEnumConstants()) {
      adders.put(key, new LongAdder());
    }
    return adders;
  }

  private void add(ShuffleCounter counter, long value) {
    counters.get(counter).add(value);
  }

  /** Counts blocks that arrived by READ. */
  public void read(long blocks, long bytes) {
    add(ShuffleCounter.READ_BLOCKS, blocks);
    add(ShuffleCounter.READ_BYTES, bytes);
  }

  /** Counts the bytes of {@link #read} that arrived from staging memory. */
  public void staged(long bytes) {
    add(ShuffleCounter.STAGED_BYTES, bytes);
  }

  /** Counts a buffer that had to wait for its peer's staging quota, or for that of all peers. */
  public void stagedWait() {
    add(ShuffleCounter.STAGED_WAITS, 1);
  }

  /** Counts bytes that were READ after their lease and had to be requested again, once per READ. */
  public void lateLease() {
    add(ShuffleCounter.STAGED_LATE, 1);
  }

  /** Counts blocks that this executor read from its own disks. */
  public void local(long blocks, long bytes) {
    add(ShuffleCounter.LOCAL_BLOCKS, blocks);
    add(ShuffleCounter.LOCAL_BYTES, bytes);
  }

  /** Counts blocks that came in a chunk with others. They also count as READ or local. */
  public void gathered(long blocks) {
    add(ShuffleCounter.GATHERED_BLOCKS, blocks);
  }

  /** Counts blocks handed over to Spark's own transport. */
  public void fallback(FallbackReason reason, long blocks) {
    fallbackBlocks.get(reason).add(blocks);
  }

  /** Counts bytes that arrived by Spark's own transport. */
  public void fallbackBytes(FallbackReason reason, long bytes) {
    fallbackBytes.get(reason).add(bytes);
  }

  /**
   * Counts a map output of this executor that had to be handed over to the node daemon.
   *
   * @param taken true if the daemon has it
   */
  public void handedOver(boolean taken) {
    add(taken ? ShuffleCounter.NODE_TAKEN : ShuffleCounter.NODE_REFUSED, 1);
  }

  /** Counts blocks whose bytes did not match Spark's checksum after a READ. */
  public void corrupt(long blocks) {
    add(ShuffleCounter.CORRUPTIONS, blocks);
  }

  /** Returns all counters by the names of {@link #descriptions}. */
  public Map<String, LongSupplier> byName() {
    Map<String, LongSupplier> all = new TreeMap<>();
    counters.forEach((counter, sum) -> all.put(counter.key(), sum::sum));
    fallbackBlocks.forEach((reason, sum) -> all.put(FALLBACK_BLOCKS + reason, sum::sum));
    fallbackBytes.forEach((reason, sum) -> all.put(FALLBACK_BYTES + reason, sum::sum));
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
