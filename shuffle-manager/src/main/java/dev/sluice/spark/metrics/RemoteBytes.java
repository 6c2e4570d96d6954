package dev.sluice.spark.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.util.Utils;

/** What part of an application's remote bytes went which way, and what would change that. */
final class RemoteBytes {
  private static final String FALLBACK_BYTES = "fallback.bytes.";
  private static final String BUDGET = "spark.shuffle.rdma.registration.maxBytes";

  private RemoteBytes() {}

  /** One line of the counters' sums. */
  static String line(Map<String, Long> counters) {
    long read = counters.getOrDefault("read.bytes", 0L);
    // A report of an executor that was lost may have been made between counting these.
    long staged = Math.min(read, counters.getOrDefault("staged.bytes", 0L));
    List<String> reasons = new ArrayList<>();
    long other = 0;
    for (Map.Entry<String, Long> counter : counters.entrySet()) {
      if (counter.getKey().startsWith(FALLBACK_BYTES) && counter.getValue() > 0) {
        other += counter.getValue();
        reasons.add(counter.getKey().substring(FALLBACK_BYTES.length()));
      }
    }
    long all = read + other;
    return "Remote shuffle bytes: "
        + part("registered map outputs", read - staged, all, "")
        + ", "
        + part("staging memory", staged, all, limit(counters))
        + ", "
        + part("Spark's own transfer", other, all, "; " + String.join(", ", reasons));
  }

  /** What would have had more registered, if something had not been: or checksums were missing. */
  private static String limit(Map<String, Long> counters) {
    if (counters.getOrDefault("registry.staged-outputs", 0L) == 0) {
      return "";
    }
    return counters.getOrDefault("registry.directories-open-files", 0L) == 0
        ? "; a larger " + BUDGET + " makes it less"
        : "; a higher limit of open files makes it less";
  }

  private static String part(String way, long bytes, long all, String hint) {
    return bytes == 0
        ? way + " 0 B"
        : String.format(
            Locale.ROOT,
            "%s %s (%.1f %%%s)",
            way,
            Utils.bytesToString(bytes),
            100.0 * bytes / all,
            hint);
  }
}
