package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The driver's sums over what all executors have counted, those that are gone included. Any thread.
 * Costs some kilobytes an executor.
 */
public final class ApplicationTotals {
  private final Map<String, Report> latest = new HashMap<>();

  /** Takes an executor's values since its start, which replace those of an older report. */
  public synchronized void accept(Report report) {
    latest.merge(
        report.executorId(),
        report,
        (old, fresh) -> fresh.sequence() - old.sequence() > 0 ? fresh : old);
  }

  /** Sums by counter. */
  public synchronized Map<String, Long> totals() {
    Map<String, Long> sums = new TreeMap<>();
    for (Report report : latest.values()) {
      report.counters().forEach((name, value) -> sums.merge(name, value, Long::sum));
    }
    return sums;
  }

  /** Provider and device in use, by executor. */
  public synchronized Map<String, String> devices() {
    Map<String, String> devices = new TreeMap<>();
    latest.values().forEach(report -> devices.put(report.executorId(), report.device()));
    return devices;
  }
}
