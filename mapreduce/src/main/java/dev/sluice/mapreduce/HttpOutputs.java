// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs of one reduce task that are fetched by HTTP, with the reasons. A map output stays
 * here once it could not be READ. All fetchers of the task share it; any thread.
 */
final class HttpOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(HttpOutputs.class);

  private final Map<TaskAttemptID, HttpReason> reasons = new ConcurrentHashMap<>();
  private final ShuffleCounters counters;

  /** Hosts and reasons that have been logged. */
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  HttpOutputs(ShuffleCounters counters) {
    this.counters = counters;
  }

  /**
   * Leaves a map output to HTTP, and counts it once. Logs the first one of each host and reason.
   *
   * @param why description of the failure
   */
  void add(TaskAttemptID output, HttpReason reason, String host, @Nullable Object why) {
    if (reasons.putIfAbsent(output, reason) == null) {
      counters.byHttp(reason);
      if (told.add(host + reason)) {
        LOG.warn("{} at {} is fetched by HTTP, not READ: {}, {}", output, host, reason, why);
      }
    }
  }

  boolean contains(TaskAttemptID output) {
    return reasons.containsKey(output);
  }

  /**
   * Returns true if the node lacks the map output. ShuffleHandler answers a request with none of
   * its map outputs if one is missing, so this one is asked for alone.
   */
  boolean isMissing(TaskAttemptID output) {
    return reasons.get(output) == HttpReason.NOT_REGISTERED;
  }
}
