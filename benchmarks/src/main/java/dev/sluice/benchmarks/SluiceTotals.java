// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Stages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * Counters of Sluice's executors, as the application's driver collects them. The main thread of a
 * driver waits for them when its jobs are over, and sends them to the command as JSON.
 *
 * @param devices the different devices of the executors, each with its provider
 * @param remoteBytes remote bytes that Spark counted in all jobs
 * @param counters sums over the executors
 */
public record SluiceTotals(String devices, long remoteBytes, Map<String, Long> counters) {
  /** Totals of an application that uses the stock shuffle. */
  public static final SluiceTotals NONE = new SluiceTotals("", 0, Map.of());

  private static final String FALLBACK_BLOCKS = "fallback.blocks.";
  private static final String FALLBACK_BYTES = "fallback.bytes.";

  /** Reason of blocks that Spark's transfer fetches as their READ takes much longer than most. */
  private static final String LATE = "LATE";

  /** Largest share of late bytes in a row: 2 % may be hedged, and a stall may last a little. */
  private static final double MAX_LATE = 0.05;

  /** Time for the last reports to arrive; if they do not, the command reports wrong sums. */
  private static final long TIMEOUT_MS = 15_000;

  /**
   * Waits for reports of executors, which arrive shortly after their tasks have ended.
   *
   * @param stages has watched all jobs, which are over
   * @return the reports so far, when none is missing or at the deadline; {@link #NONE} with the
   *     stock shuffle
   */
  public static SluiceTotals await(SparkConf conf, Stages stages) throws InterruptedException {
    if (!conf.get("spark.shuffle.manager", "sort").endsWith("RdmaShuffleManager")) {
      return NONE;
    }
    Poll.until(TIMEOUT_MS, () -> now(stages).areComplete());
    return now(stages);
  }

  /** Returns true if no report is missing. Spark does not count the bytes of killed tasks. */
  boolean areComplete() {
    return readBytes() + fallbackBytes() >= remoteBytes;
  }

  /** Returns the sum over several applications, with the devices of the last one. */
  public static SluiceTotals sum(Stream<SluiceTotals> all) {
    return all.reduce(NONE, SluiceTotals::plus);
  }

  private SluiceTotals plus(SluiceTotals other) {
    Map<String, Long> sums = new TreeMap<>(counters);
    other.counters.forEach((name, value) -> sums.merge(name, value, Long::sum));
    return new SluiceTotals(other.devices, remoteBytes + other.remoteBytes, sums);
  }

  /** Returns the first word of {@code provider device}. */
  public String provider() {
    return devices.split(" ", 2)[0];
  }

  public long readBytes() {
    return counter("read.bytes");
  }

  /** Returns the READ bytes that the peer had staged first. */
  public long stagedBytes() {
    return counter("staged.bytes");
  }

  public long localBytes() {
    return counter("local.bytes");
  }

  /** Returns the number of blocks whose bytes did not match Spark's checksum after a READ. */
  public long corruptions() {
    return counter("corruptions");
  }

  public long fallbackBytes() {
    return byReason(FALLBACK_BYTES).values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the number of blocks by reason, for reasons that occurred. */
  public Map<String, Long> fallbackBlocks() {
    return byReason(FALLBACK_BLOCKS);
  }

  /** Returns the bytes that Spark's transfer fetched as READs were late. */
  public long lateBytes() {
    return counter(FALLBACK_BYTES + LATE);
  }

  /** Returns the bytes of READs whose blocks Spark's transfer fetched as well, and of probes. */
  public long hedgeBytes() {
    return counter("hedge.bytes");
  }

  /**
   * Returns the reasons why the jobs did not READ all of their remote bytes; empty if they did.
   * Some blocks may have come by Spark's transfer as their READs were late: a busy machine may
   * stall one of its processes.
   */
  public List<String> problems() {
    return problems(MAX_LATE);
  }

  /**
   * Returns the same.
   *
   * @param maxLate largest share of the remote bytes whose READs may be late
   */
  public List<String> problems(double maxLate) {
    List<String> found = new ArrayList<>();
    long lateBytes = lateBytes();
    if (readBytes() + lateBytes != remoteBytes) {
      String late = lateBytes == 0 ? "" : ", and %d as READs were late".formatted(lateBytes);
      found.add(
          "%d bytes came by READ%s, but the engine counted %d remote bytes"
              .formatted(readBytes(), late, remoteBytes));
    }
    if (lateBytes > maxLate * remoteBytes) {
      found.add(
          "%d of %d remote bytes came by the engine's own transfer, as READs were late"
              .formatted(lateBytes, remoteBytes));
    }
    Map<String, Long> others = fallbackBlocks();
    others.remove(LATE);
    if (!others.isEmpty()) {
      found.add("blocks fell back to the engine's own transfer: " + others);
    }
    return found;
  }

  private long counter(String name) {
    return counters.getOrDefault(name, 0L);
  }

  private Map<String, Long> byReason(String prefix) {
    Map<String, Long> byReason = new TreeMap<>();
    counters.forEach(
        (name, value) -> {
          if (name.startsWith(prefix) && value != 0) {
            byReason.put(name.substring(prefix.length()), value);
          }
        });
    return byReason;
  }

  private static SluiceTotals now(Stages stages) {
    RdmaShuffleManager manager = (RdmaShuffleManager) SparkEnv.get().shuffleManager();
    return new SluiceTotals(
        String.join(", ", new TreeSet<>(manager.devices().values())),
        stages.remoteBytes(),
        manager.totals());
  }
}
