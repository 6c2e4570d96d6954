// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.GoneExecutors;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * The driver's sums over the counters of all executors, including those that are gone. {@code
 * DriverRuntime} makes it. The location directory's thread gives it reports, the listener bus
 * losses, and metrics sinks and users read it; its lock guards all fields. Costs some kilobytes for
 * each executor that lives or left lately. The time for a report and for the sums does not depend
 * on the number of executors.
 */
public final class ApplicationTotals {
  /** Number of executors that left lately and are kept, as messages may still be under way. */
  private static final int MAX_LEFT = 1_000;

  /** Last report of each executor that lives. */
  private final Map<String, Report> latest = new HashMap<>();

  /** Last report of each executor that left lately, without levels, oldest loss first. */
  private final SequencedMap<String, Report> left = new LinkedHashMap<>();

  private final GoneExecutors gone = new GoneExecutors();

  /** Sums by counter, including executors that left earlier. */
  private final Map<String, Long> sums = new TreeMap<>();

  /** Takes an executor's values since its start, which replace those of an older report. */
  public synchronized void accept(Report report) {
    String executorId = report.executorId();
    if (left.containsKey(executorId)) {
      accept(withoutLevels(report), left);
    } else if (!gone.contains(executorId)) {
      accept(report, latest);
    }
  }

  private void accept(Report report, Map<String, Report> reports) {
    Report old = reports.getOrDefault(report.executorId(), nothing(report.executorId()));
    if (old.counters().isEmpty() || report.sequence() - old.sequence() > 0) {
      reports.put(report.executorId(), report);
      replace(old, report);
    }
  }

  private void replace(Report old, Report fresh) {
    old.counters().forEach((name, value) -> sums.merge(name, -value, Long::sum));
    fresh.counters().forEach((name, value) -> sums.merge(name, value, Long::sum));
  }

  /** Returns the report of an executor that is gone without its levels: it holds nothing now. */
  private static Report withoutLevels(Report report) {
    Map<String, Long> counted = new HashMap<>(report.counters());
    counted.keySet().removeIf(ExecutorMetrics::isLevel);
    return new Report(report.executorId(), report.sequence(), report.device(), counted);
  }

  private static Report nothing(String executorId) {
    return new Report(executorId, 0, "", Map.of());
  }

  /** Notes that an executor is gone for good. A report of it may still arrive. */
  public synchronized void executorLost(String executorId) {
    if (left.containsKey(executorId) || gone.contains(executorId)) {
      return;
    }
    gone.add(executorId);
    Report last = latest.remove(executorId);
    if (last == null) {
      left.put(executorId, nothing(executorId));
    } else {
      left.put(executorId, withoutLevels(last));
      replace(last, left.get(executorId));
    }
    if (left.size() > MAX_LEFT) {
      left.pollFirstEntry();
    }
  }

  /** Returns the sums by counter. */
  public synchronized Map<String, Long> totals() {
    return new TreeMap<>(sums);
  }

  /** Returns the sum of one counter; 0 if no executor has reported it. */
  synchronized long total(String counter) {
    return sums.getOrDefault(counter, 0L);
  }

  /** Returns provider and device in use, for each executor that lives. */
  public synchronized Map<String, String> devices() {
    Map<String, String> devices = new TreeMap<>();
    latest.values().forEach(report -> devices.put(report.executorId(), report.device()));
    return devices;
  }

  /** Returns the number of executors whose reports are held. */
  synchronized int held() {
    return latest.size() + left.size();
  }
}
