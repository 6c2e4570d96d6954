// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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

  /** Hadoop's fetcher takes as many in one request. */
  private static final int MAX_REQUEST = 20;

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
   * Returns the map outputs of the next request: a few, and none that the node lacks with others.
   * ShuffleHandler answers a request with none of its map outputs if one of them is missing.
   *
   * @param outputs map outputs of one host; at least one
   */
  List<TaskAttemptID> next(Collection<TaskAttemptID> outputs) {
    List<TaskAttemptID> there = first(outputs, each -> !isMissing(each));
    return there.isEmpty() ? first(outputs, this::isMissing) : there;
  }

  private static List<TaskAttemptID> first(
      Collection<TaskAttemptID> outputs, Predicate<TaskAttemptID> which) {
    return outputs.stream().filter(which).limit(MAX_REQUEST).collect(Collectors.toList());
  }

  private boolean isMissing(TaskAttemptID output) {
    return reasons.get(output) == HttpReason.NOT_REGISTERED;
  }
}
