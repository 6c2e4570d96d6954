// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.util.Utils;

/**
 * Log line with the share of each path in the remote bytes, and the keys that change it. {@link
 * ApplicationSummary} logs it at the end of an application. It reads counters by their names, which
 * {@link ExecutorMetrics} makes. Any thread.
 */
final class RemoteBytes {
  private static final String PREFIX = "spark.shuffle.rdma.";

  /** Counters of local directories in which map outputs are registered, by registration form. */
  private static final String DIRECTORIES = "registry.directories-";

  private RemoteBytes() {}

  /** Returns the line for the sums of the counters. */
  static String line(Map<String, Long> counters) {
    long read = counters.getOrDefault("read.bytes", 0L);
    // A lost executor may have made its report between counting these.
    long staged = Math.min(read, counters.getOrDefault("staged.bytes", 0L));
    List<String> reasons = new ArrayList<>();
    long other = 0;
    for (FallbackReason reason : FallbackReason.values()) {
      long bytes = counters.getOrDefault("fallback.bytes." + reason, 0L);
      if (bytes > 0) {
        other += bytes;
        reasons.add(reason + key(reason).map(key -> ": " + key).orElse(""));
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

  /**
   * Returns the key that would have more bytes registered. Empty if all map outputs were: bytes
   * were then staged as they had no checksums.
   */
  private static String limit(Map<String, Long> counters) {
    if (counters.getOrDefault("registry.staged-outputs", 0L) == 0) {
      return "";
    }
    boolean registered =
        counters.entrySet().stream()
            .anyMatch(
                counter -> counter.getKey().startsWith(DIRECTORIES) && counter.getValue() > 0);
    if (!registered) {
      return "; to reduce it, set %sregistration.maxBytes if it is 0, or see what the doctor says of"
              .formatted(PREFIX)
          + " the local directories";
    }
    boolean openFiles = counters.getOrDefault(DIRECTORIES + "open-files", 0L) > 0;
    return "; to reduce it, raise %s%sregistration.maxBytes"
        .formatted(openFiles ? "the limit of open files or " : "", PREFIX);
  }

  /** Returns the key that reduces fallbacks for this reason; empty if there is none. */
  static Optional<String> key(FallbackReason reason) {
    return switch (reason) {
      case OFF, PEER -> Optional.of(PREFIX + "provider");
      case STAGING -> Optional.of(PREFIX + "staging.maxBytes");
      case CONNECT -> Optional.of(PREFIX + "port");
      case DEADLINE -> Optional.of(PREFIX + "read.timeout");
      case LATE -> Optional.of(PREFIX + "read.hedge");
      case CIRCUIT_OPEN -> Optional.of(PREFIX + "circuit.cooldown");
      case BUFFERS -> Optional.of(PREFIX + "buffers.maxBytes");
      case WIRE_ENCRYPTION -> Optional.of(PREFIX + "allowPlaintext");
      case DISK -> Optional.of("spark.local.dir");
      case BLOCK_KIND -> Optional.of("spark.shuffle.push.enabled");
      case NOT_REGISTERED, STALE_LOCATION, TRANSPORT, CLOSED, CHECKSUM -> Optional.empty();
    };
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
