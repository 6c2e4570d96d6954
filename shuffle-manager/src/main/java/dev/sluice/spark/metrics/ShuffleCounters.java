package dev.sluice.spark.metrics;

import dev.sluice.spark.transport.FallbackReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Blocks and bytes by path. Any thread. */
public final class ShuffleCounters {
  private final LongAdder readBlocks = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder stagedBytes = new LongAdder();
  private final LongAdder stagedWaits = new LongAdder();
  private final LongAdder lateLeases = new LongAdder();
  private final LongAdder localBlocks = new LongAdder();
  private final LongAdder localBytes = new LongAdder();
  private final LongAdder gatheredBlocks = new LongAdder();
  private final LongAdder corruptions = new LongAdder();
  private final LongAdder handedOver = new LongAdder();
  private final LongAdder notHandedOver = new LongAdder();
  private final Map<FallbackReason, LongAdder> fallbackBlocks = adders();
  private final Map<FallbackReason, LongAdder> fallbackBytes = adders();

  /** Blocks that arrived by READ. */
  public void read(long blocks, long bytes) {
    readBlocks.add(blocks);
    readBytes.add(bytes);
  }

  /** Bytes of what {@link #read} counts that arrived from staging memory. */
  public void staged(long bytes) {
    stagedBytes.add(bytes);
  }

  /** A buffer had to wait for its peer's share of what may wait for staging, or for all peers'. */
  public void stagedWait() {
    stagedWaits.increment();
  }

  /** Bytes were READ after their lease had run out, and had to be asked for again. */
  public void lateLease() {
    lateLeases.increment();
  }

  /** Blocks that this executor read from its own disks. */
  public void local(long blocks, long bytes) {
    localBlocks.add(blocks);
    localBytes.add(bytes);
  }

  /** Blocks, READ or local, that came in a chunk with others; each counts as that, too. */
  public void gathered(long blocks) {
    gatheredBlocks.add(blocks);
  }

  /** Blocks handed over to Spark's own transfer. */
  public void fallback(FallbackReason reason, long blocks) {
    fallbackBlocks.get(reason).add(blocks);
  }

  /** Bytes that arrived by Spark's own transfer. */
  public void fallbackBytes(FallbackReason reason, long bytes) {
    fallbackBytes.get(reason).add(bytes);
  }

  /**
   * A map output of this executor was to be handed over to the node's block server.
   *
   * @param taken whether that has it
   */
  public void handedOver(boolean taken) {
    (taken ? handedOver : notHandedOver).increment();
  }

  /** Blocks whose bytes did not match Spark's checksum after a READ. */
  public void corrupt(long blocks) {
    corruptions.add(blocks);
  }

  /**
   * All counters by name: {@code read.blocks}, {@code read.bytes}, {@code staged.bytes}, {@code
   * staged.waits}, {@code staged.late}, {@code local.*}, {@code gathered.blocks}, {@code
   * corruptions}, {@code node.taken}, {@code node.refused} and, for each {@link FallbackReason},
   * {@code fallback.blocks.REASON} and {@code fallback.bytes.REASON}.
   */
  public Map<String, LongSupplier> byName() {
    Map<String, LongSupplier> all = new TreeMap<>();
    all.put("read.blocks", readBlocks::sum);
    all.put("read.bytes", readBytes::sum);
    all.put("staged.bytes", stagedBytes::sum);
    all.put("staged.waits", stagedWaits::sum);
    all.put("staged.late", lateLeases::sum);
    all.put("local.blocks", localBlocks::sum);
    all.put("local.bytes", localBytes::sum);
    all.put("gathered.blocks", gatheredBlocks::sum);
    all.put("corruptions", corruptions::sum);
    all.put("node.taken", handedOver::sum);
    all.put("node.refused", notHandedOver::sum);
    fallbackBlocks.forEach((reason, sum) -> all.put("fallback.blocks." + reason, sum::sum));
    fallbackBytes.forEach((reason, sum) -> all.put("fallback.bytes." + reason, sum::sum));
    return all;
  }

  /** Blocks by whatever path, of {@link #byName}'s values. */
  static long blocks(Map<String, Long> counters) {
    return counters.entrySet().stream()
        .filter(
            counter ->
                counter.getKey().equals("read.blocks")
                    || counter.getKey().equals("local.blocks")
                    || counter.getKey().startsWith("fallback.blocks."))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static Map<FallbackReason, LongAdder> adders() {
    Map<FallbackReason, LongAdder> adders = new EnumMap<>(FallbackReason.class);
    for (FallbackReason reason : FallbackReason.values()) {
      adders.put(reason, new LongAdder());
    }
    return adders;
  }
}
