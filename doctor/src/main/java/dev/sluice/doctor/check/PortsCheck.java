// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.conf.Type;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;
import java.util.stream.Stream;

/**
 * Check of the ports that executors take, which a firewall has to let through. {@link Checks} makes
 * it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record PortsCheck(SparkSettings settings, ExecutorConf conf) implements Check {
  /** Key of the number of ports that are tried after a taken one. */
  static final String RETRIES = "spark.port.maxRetries";

  private static final Type<Integer> NUMBER = Type.integer(0, 65_535);

  /** Ports of node daemons, and of the doctor. */
  private static final Range OTHERS = new Range("", 7338, 7399);

  private static final String DOCUMENT = "docs/sizing.md, Ports";

  /**
   * Ports of which a process takes one.
   *
   * @param key key of the first
   * @param first 0 for any free port
   * @param last the last one that is tried, inclusive
   */
  private record Range(String key, int first, int last) {
    boolean isAny() {
      return first == 0;
    }

    boolean meets(Range other) {
      return !isAny() && !other.isAny() && first <= other.last && other.first <= last;
    }

    @Override
    public String toString() {
      return (isAny() ? "any free TCP port" : "TCP ports %d to %d".formatted(first, last))
          + " (%s)".formatted(key);
    }
  }

  /**
   * Returns the number of ports that are tried after a taken one.
   *
   * @throws IllegalArgumentException for a value that is no such number
   */
  static int retries(SparkSettings settings) {
    return settings.get(RETRIES).map(text -> NUMBER.parse(RETRIES, text)).orElse(16);
  }

  @Override
  public String name() {
    return "ports";
  }

  @Override
  public List<Finding> findings() {
    Range control = range(ExecutorSettings.PORT);
    Range data = range(ExecutorSettings.DATA_PORT);
    String said =
        "control: %s; data: with soft %s, with RoCE v2 UDP port 4791".formatted(control, data);
    if (control.meets(data)) {
      Finding finding =
          Finding.warn(
              name(),
              said + "; the two meet",
              "leave %s (%d) ports between them (%s)"
                  .formatted(RETRIES, retries(settings), DOCUMENT));
      int next = Math.max(control.last(), OTHERS.last()) + 1;
      return List.of(
          next > 65_535
              ? finding
              : finding.mendedBy(FixLine.setting(data.key(), Integer.toString(next))));
    }
    if (Stream.of(control, data).anyMatch(OTHERS::meets)) {
      return List.of(
          Finding.warn(
              name(),
              said + "; node daemons and the doctor take 7338 to 7399",
              "choose ports above 7399 (" + DOCUMENT + ")"));
    }
    return List.of(Finding.ok(name(), said));
  }

  private Range range(Setting<Integer> setting) {
    int first = conf.value(setting);
    return new Range(
        setting.key(), first, first == 0 ? 0 : Math.min(65_535, first + retries(settings)));
  }
}
