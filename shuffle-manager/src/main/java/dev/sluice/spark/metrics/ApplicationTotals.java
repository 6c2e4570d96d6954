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
 * Costs some kilobytes for each executor that lives, and for those that left lately.
 */
public final class ApplicationTotals {
  /** Executors that left lately: what they sent before may still be under way. */
  private static final int MAX_LEFT = 1_000;

  private final Map<String, Report> latest = new HashMap<>();
  private final SequencedMap<String, Report> left = new LinkedHashMap<>();
  private final GoneExecutors gone = new GoneExecutors();

  /** Sums of those that left before. */
  private final Map<String, Long> settled = new HashMap<>();

  /** Takes an executor's values since its start, which replace those of an older report. */
  public synchronized void accept(Report report) {
    String executorId = report.executorId();
    if (left.containsKey(executorId)) {
      left.merge(executorId, report, ApplicationTotals::newer);
    } else if (!gone.contains(executorId)) {
      latest.merge(executorId, report, ApplicationTotals::newer);
    }
  }

  private static Report newer(Report old, Report fresh) {
    return old.counters().isEmpty() || fresh.sequence() - old.sequence() > 0 ? fresh : old;
  }

  /** An executor is gone for good; a report of it may yet arrive. */
  public synchronized void executorLost(String executorId) {
    if (left.containsKey(executorId) || gone.contains(executorId)) {
      return;
    }
    gone.add(executorId);
    Report last = latest.remove(executorId);
    left.put(executorId, last == null ? new Report(executorId, 0, "", Map.of()) : last);
    if (left.size() > MAX_LEFT) {
      add(left.pollFirstEntry().getValue(), settled);
    }
  }

  private static void add(Report report, Map<String, Long> sums) {
    report.counters().forEach((name, value) -> sums.merge(name, value, Long::sum));
  }

  /** Sums by counter. */
  public synchronized Map<String, Long> totals() {
    Map<String, Long> sums = new TreeMap<>(settled);
    latest.values().forEach(report -> add(report, sums));
    left.values().forEach(report -> add(report, sums));
    return sums;
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
