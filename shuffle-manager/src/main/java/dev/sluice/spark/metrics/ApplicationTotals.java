package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.GoneExecutors;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * The driver's sums over what all executors have counted, those that are gone included. Any thread.
 * Costs some kilobytes for each executor that lives, and for those that left lately; a report and
 * the sums take as long whatever the number of executors.
 */
public final class ApplicationTotals {
  /** Executors that left lately: what they sent before may still be under way. */
  private static final int MAX_LEFT = 1_000;

  private final Map<String, Report> latest = new HashMap<>();
  private final SequencedMap<String, Report> left = new LinkedHashMap<>();
  private final GoneExecutors gone = new GoneExecutors();

  /** By counter, of those that left before as well. */
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

  /** Of an executor that is gone: what it held is gone, too. */
  private static Report withoutLevels(Report report) {
    Map<String, Long> counted = new HashMap<>(report.counters());
    counted.keySet().removeIf(ExecutorMetrics::isLevel);
    return new Report(report.executorId(), report.sequence(), report.device(), counted);
  }

  private static Report nothing(String executorId) {
    return new Report(executorId, 0, "", Map.of());
  }

  /** An executor is gone for good; a report of it may yet arrive. */
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

  /** Sums by counter. */
  public synchronized Map<String, Long> totals() {
    return new TreeMap<>(sums);
  }

  /** Provider and device in use, by executor that lives. */
  public synchronized Map<String, String> devices() {
    Map<String, String> devices = new TreeMap<>();
    latest.values().forEach(report -> devices.put(report.executorId(), report.device()));
    return devices;
  }

  /** Executors whose reports are held. */
  synchronized int held() {
    return latest.size() + left.size();
  }
}
