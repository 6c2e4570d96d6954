// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.Memory;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.QueuePairs;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Records of the tab in Spark's UI, from counters by their names, of an executor or of the whole
 * application. {@link ExecutorStates} and {@code UiFeed} use it. Any thread.
 */
public final class UpdateRecords {
  /** Name in place of a peer for the sum of all pairs of peer and reason without a row. */
  static final String OTHERS = "all others";

  private UpdateRecords() {}

  /** Returns the bytes by path. */
  public static Bytes bytes(Map<String, Long> counters) {
    long read = value(counters, "read.bytes");
    // An executor may make its report between counting these.
    long staged = Math.min(read, value(counters, "staged.bytes"));
    long fallback = 0;
    for (FallbackReason reason : FallbackReason.values()) {
      fallback += value(counters, "fallback.bytes." + reason);
    }
    return new Bytes(read - staged, staged, value(counters, "local.bytes"), fallback);
  }

  /** Returns the reasons for which blocks fell back, the one with the most bytes first. */
  public static List<Fallback> fallbacks(Map<String, Long> counters) {
    List<Fallback> fallbacks = new ArrayList<>();
    for (FallbackReason reason : FallbackReason.values()) {
      long blocks = value(counters, "fallback.blocks." + reason);
      long bytes = value(counters, "fallback.bytes." + reason);
      if (blocks > 0 || bytes > 0) {
        fallbacks.add(
            new Fallback(reason.name(), blocks, bytes, RemoteBytes.key(reason).orElse("")));
      }
    }
    fallbacks.sort(Comparator.comparingLong(Fallback::bytes).reversed());
    return fallbacks;
  }

  /** Returns the pairs of peer and reason, and the others as the last one. */
  static List<PeerFallback> peerFallbacks(PeerFallbacks blocks) {
    List<PeerFallback> fallbacks = new ArrayList<>();
    for (PeerBlocks pair : blocks.largest()) {
      fallbacks.add(
          new PeerFallback(pair.peer(), pair.reason(), pair.blocks(), key(pair.reason())));
    }
    if (blocks.otherBlocks() > 0) {
      fallbacks.add(new PeerFallback(OTHERS, "", blocks.otherBlocks(), ""));
    }
    return fallbacks;
  }

  private static String key(String reason) {
    return Arrays.stream(FallbackReason.values())
        .filter(known -> known.name().equals(reason))
        .findFirst()
        .flatMap(RemoteBytes::key)
        .orElse("");
  }

  static Memory memory(Map<String, Long> counters, MemoryLimits limits) {
    return new Memory(
        value(counters, "registry.registered-bytes"),
        limits.registered(),
        value(counters, "registry.staging-bytes-in-use"),
        limits.staging(),
        value(counters, "transfer.buffer-bytes-in-use"),
        limits.buffers());
  }

  static QueuePairs queuePairs(Map<String, Long> counters) {
    return new QueuePairs(
        Math.max(
            0,
            value(counters, "transfer.queue-pairs-created")
                - value(counters, "transfer.queue-pairs-closed")),
        value(counters, "transfer.queue-pairs-serving"));
  }

  static Reads reads(LatencySnapshot latencies) {
    return new Reads(latencies.count(), latencies.quantile(0.5), latencies.quantile(0.99));
  }

  private static long value(Map<String, Long> counters, String name) {
    return counters.getOrDefault(name, 0L);
  }
}
