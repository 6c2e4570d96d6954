package dev.sluice.benchmarks.terasort;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one sort in a driver process of its own came to; travels to the command in a file.
 *
 * @param seconds from the first task's start to the committed output
 * @param remoteBytes sum of Spark's own remoteBytesRead over all tasks
 * @param provider the provider in use; null for the stock shuffle
 * @param device its device; null for the stock shuffle
 * @param totals Sluice's own counters, summed over the executors; empty for the stock shuffle
 */
record SortResult(
    double seconds, long remoteBytes, String provider, String device, Map<String, Long> totals) {

  /** A counter by its name; 0 where nothing was counted. */
  long total(String name) {
    return totals.getOrDefault(name, 0L);
  }

  /** Counters other than 0 that begin with {@code prefix}, by what follows it. */
  Map<String, Long> byReason(String prefix) {
    Map<String, Long> byReason = new TreeMap<>();
    totals.forEach(
        (name, value) -> {
          if (name.startsWith(prefix) && value != 0) {
            byReason.put(name.substring(prefix.length()), value);
          }
        });
    return byReason;
  }

  /** Sum of the counters that begin with {@code prefix}. */
  long sum(String prefix) {
    return byReason(prefix).values().stream().mapToLong(Long::longValue).sum();
  }

  static SortResult read(Path file) throws IOException {
    return new ObjectMapper().readValue(file.toFile(), SortResult.class);
  }

  void write(Path file) throws IOException {
    new ObjectMapper().writeValue(file.toFile(), this);
  }
}
