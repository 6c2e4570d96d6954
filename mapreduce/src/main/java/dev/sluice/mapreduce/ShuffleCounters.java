// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapreduce.counters.CounterGroupFactory;
import org.apache.hadoop.mapreduce.counters.Limits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Job counters of one reduce task, in the group {@link #GROUP}: bytes and map outputs by READ and
 * by HTTP, and map outputs by the {@link HttpReason} for which they went by HTTP. Each map output
 * counts once, when the scheduler commits it. {@link RdmaShuffle} makes it. Fetchers count on their
 * threads; {@link #report} reports at the end of the task. Bytes are those in the map outputs'
 * files, without those of encryption.
 *
 * <p>Hadoop limits the number of counters, and a task that has one too many fails. The task's other
 * counters are therefore counted first, and these are left out if they do not fit.
 */
final class ShuffleCounters {
  /** Name of the counter group, which users see. */
  static final String GROUP = "Sluice shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(ShuffleCounters.class);

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong readOutputs = new AtomicLong();
  private final AtomicLong httpBytes = new AtomicLong();

  /** Map outputs by HTTP, by the ordinals of the reasons. */
  private final AtomicLongArray httpOutputs = new AtomicLongArray(HttpReason.values().length);

  /** Reason for which no map output is READ; null if they are READ. */
  private @Nullable HttpReason ofAll;

  ShuffleCounters(ShuffleConsumerPlugin.Context<?, ?> context) {
    this.context = context;
  }

  /** Notes that this task READs nothing. */
  void allByHttp(HttpReason reason) {
    ofAll = reason;
  }

  /** Counts a map output that was READ. Any thread. */
  void read(long bytes) {
    readBytes.addAndGet(bytes);
    readOutputs.incrementAndGet();
  }

  /** Counts a map output that came by HTTP. Any thread. */
  void byHttp(HttpReason reason, long bytes) {
    httpOutputs.incrementAndGet(reason.ordinal());
    httpBytes.addAndGet(bytes);
  }

  /**
   * Reports the totals, once, when the reducer has made its own counters. A task with local map
   * files has none: it fetches nothing.
   */
  void report() {
    if (context.getLocalMapFiles() != null) {
      return;
    }
    if (ofAll != null) {
      httpOutputs.set(ofAll.ordinal(), context.getShuffledMapsCounter().getValue());
      httpBytes.set(context.getReduceShuffleBytes().getValue());
    }
    Map<String, Long> totals = totals();
    try {
      int room = room(ofTask());
      if (room < totals.size()) {
        LOG.warn(
            "The {} counters of the group {} are left out, because the task has room for {} more"
                + " (mapreduce.job.counters.max)",
            totals.size(),
            GROUP,
            room);
        return;
      }
    } catch (ReflectiveOperationException e) {
      LOG.warn(
          "The counters of the group {} are left out, because this Hadoop does not tell how many"
              + " the task has",
          GROUP,
          e);
      return;
    }
    totals.forEach((name, value) -> context.getReporter().incrCounter(GROUP, name, value));
  }

  private Map<String, Long> totals() {
    Map<String, Long> totals = new LinkedHashMap<>();
    totals.put("READ_BYTES", readBytes.get());
    totals.put("READ_MAP_OUTPUTS", readOutputs.get());
    totals.put("HTTP_BYTES", httpBytes.get());
    long sum = 0;
    for (HttpReason reason : HttpReason.values()) {
      long number = httpOutputs.get(reason.ordinal());
      if (number > 0) {
        totals.put("HTTP_" + reason, number);
        sum += number;
      }
    }
    totals.put("HTTP_MAP_OUTPUTS", sum);
    return totals;
  }

  /** Returns the counters of the task. Hadoop has a method for it, but not a public one. */
  private Counters ofTask() throws ReflectiveOperationException {
    Method counters = Task.class.getDeclaredMethod("getCounters");
    counters.setAccessible(true);
    return (Counters) counters.invoke(context.getReduceTask());
  }

  /** Returns how many counters fit into a new group. Hadoop's own are not limited. */
  private static int room(Counters counters) {
    int groups = 0;
    int names = 0;
    for (Counters.Group group : counters) {
      if (!CounterGroupFactory.isFrameworkGroup(group.getName())) {
        groups++;
        names += group.size();
      }
    }
    boolean isFull = groups >= Limits.getGroupsMax() || counters.limits().violation() != null;
    return isFull ? 0 : Limits.getCountersMax() - names;
  }
}
