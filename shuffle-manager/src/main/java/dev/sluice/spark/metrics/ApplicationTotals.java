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
    Map<String, Report> reports = left.containsKey(executorId) ? left : latest;
    if (reports == latest && gone.contains(executorId)) {
      return;
    }
    Report old = reports.getOrDefault(executorId, nothing(executorId));
    if (old.counters().isEmpty() || report.sequence() - old.sequence() > 0) {
      reports.put(executorId, report);
      old.counters().forEach((name, value) -> sums.merge(name, -value, Long::sum));
      report.counters().forEach((name, value) -> sums.merge(name, value, Long::sum));
    }
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
    left.put(executorId, last == null ? nothing(executorId) : last);
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
