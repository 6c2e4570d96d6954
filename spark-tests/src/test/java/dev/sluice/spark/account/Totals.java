// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Blocks by path: READ, local, and handed over to Spark's own transfer by reason. Immutable.
 *
 * @param counters the manager's sums over driver and executors, by its names
 */
public record Totals(Map<String, Long> counters) {
  static final String FALLBACK = "fallback.blocks.";

  public static final Totals NONE = new Totals(Map.of());

  public long of(String counter) {
    return counters.getOrDefault(counter, 0L);
  }

  public long read() {
    return of("read.blocks");
  }

  public long readBytes() {
    return of("read.bytes");
  }

  /** Bytes that were READ from staging memory. */
  public long stagedBytes() {
    return of("staged.bytes");
  }

  public long local() {
    return of("local.blocks");
  }

  /** Blocks whose bytes did not match Spark's checksum after a READ. */
  public long corruptions() {
    return of("corruptions");
  }

  public long fallback() {
    return fallbackByReason().values().stream().mapToLong(Long::longValue).sum();
  }

  /** Blocks by any path. */
  public long blocks() {
    return read() + local() + fallback();
  }

  /** Fallbacks by reason; only reasons that occurred. */
  public Map<String, Long> fallbackByReason() {
    return counters.entrySet().stream()
        .filter(e -> e.getKey().startsWith(FALLBACK) && e.getValue() > 0)
        .collect(
            Collectors.toMap(
                e -> e.getKey().substring(FALLBACK.length()),
                Map.Entry::getValue,
                Long::sum,
                TreeMap::new));
  }

  Totals plus(Totals other) {
    Map<String, Long> sum = new TreeMap<>(counters);
    other.counters.forEach((counter, value) -> sum.merge(counter, value, Long::sum));
    return new Totals(sum);
  }

  @Override
  public String toString() {
    return "READ %d, local %d, fallback %d %s"
        .formatted(read(), local(), fallback(), fallbackByReason());
  }
}
