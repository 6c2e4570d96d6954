package dev.sluice.benchmarks;

import dev.sluice.spark.RdmaShuffleManager;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * What Sluice's executors have counted, in the driver of an application that runs on it.
 *
 * @param devices provider and device of the executors, those that differ
 * @param counters sums over the executors
 */
public record SluiceTotals(String devices, Map<String, Long> counters) {
  /** Of an application that runs on the stock shuffle. */
  public static final SluiceTotals NONE = new SluiceTotals("", Map.of());

  private static final String FALLBACK_BLOCKS = "fallback.blocks.";
  private static final String FALLBACK_BYTES = "fallback.bytes.";
  private static final long TIMEOUT_MS = 15_000;

  /**
   * Of a job that is over, on whatever shuffle.
   *
   * @param remoteBytes that Spark counted
   */
  public static SluiceTotals await(SparkConf conf, long remoteBytes) throws InterruptedException {
    return await(conf, totals -> totals.readBytes() + totals.fallbackBytes() == remoteBytes);
  }

  /**
   * Executors report a little after their tasks have ended.
   *
   * @param complete whether everything has arrived that is expected
   * @return what has been reported then, or at the deadline
   */
  public static SluiceTotals await(SparkConf conf, Predicate<SluiceTotals> complete)
      throws InterruptedException {
    if (!conf.get("spark.shuffle.manager", "sort").endsWith("RdmaShuffleManager")) {
      return NONE;
    }
    Poll.until(TIMEOUT_MS, () -> complete.test(now()));
    return now();
  }

  /** Of several applications, on the devices of the last one. */
  public static SluiceTotals sum(Stream<SluiceTotals> all) {
    return all.reduce(NONE, SluiceTotals::plus);
  }

  private SluiceTotals plus(SluiceTotals other) {
    Map<String, Long> sums = new TreeMap<>(counters);
    other.counters.forEach((name, value) -> sums.merge(name, value, Long::sum));
    return new SluiceTotals(other.devices, sums);
  }

  /** The first word of {@code provider device}. */
  public String provider() {
    return devices.split(" ", 2)[0];
  }

  public long readBytes() {
    return counter("read.bytes");
  }

  /** Of those READ, the ones that were copied for it first. */
  public long stagedBytes() {
    return counter("staged.bytes");
  }

  public long localBytes() {
    return counter("local.bytes");
  }

  /** Blocks whose bytes did not match Spark's checksum after a READ. */
  public long corruptions() {
    return counter("corruptions");
  }

  public long fallbackBytes() {
    return byReason(FALLBACK_BYTES).values().stream().mapToLong(Long::longValue).sum();
  }

  /** Reasons that occurred, with the number of blocks. */
  public Map<String, Long> fallbackBlocks() {
    return byReason(FALLBACK_BLOCKS);
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

  private static SluiceTotals now() {
    RdmaShuffleManager manager = (RdmaShuffleManager) SparkEnv.get().shuffleManager();
    return new SluiceTotals(
        String.join(", ", new TreeSet<>(manager.devices().values())), manager.totals());
  }
}
