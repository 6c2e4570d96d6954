// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.Collection;
import java.util.Collections;
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

  /** A node is asked so often for a map output. Each answer that is late takes several seconds. */
  private static final int MAX_LATE = 4;

  private final Map<TaskAttemptID, HttpReason> reasons = new ConcurrentHashMap<>();

  /**
   * Map outputs of failed requests, with the number of requests for them alone that failed. A
   * failed request for several does not tell which of them is lost.
   */
  private final Map<TaskAttemptID, Integer> failed = new ConcurrentHashMap<>();

  /** Map outputs for which their node was late, with the number of times. */
  private final Map<TaskAttemptID, Integer> late = new ConcurrentHashMap<>();

  /** Hosts whose last failed request was for one map output alone. */
  private final Set<String> failedAlone = ConcurrentHashMap.newKeySet();

  /** Hosts and reasons that have been logged. */
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  /**
   * Leaves a map output to HTTP. Logs the first one of each host and reason, and of a task that
   * cannot READ.
   *
   * @param why description of the failure
   */
  void add(TaskAttemptID output, HttpReason reason, String host, @Nullable Object why) {
    String about = reason == HttpReason.OFF ? "all hosts" : host + reason;
    if (reasons.putIfAbsent(output, reason) == null && told.add(about)) {
      LOG.warn("{} at {} is fetched by HTTP, not READ: {}, {}", output, host, reason, why);
    }
  }

  /** Notes that a node was late for a map output. Returns false if that was once too often. */
  boolean mayBeAskedAgain(TaskAttemptID output) {
    return late.merge(output, 1, Integer::sum) < MAX_LATE;
  }

  boolean contains(TaskAttemptID output) {
    return reasons.containsKey(output);
  }

  /** Returns why a map output comes by HTTP. */
  HttpReason reason(TaskAttemptID output) {
    return reasons.getOrDefault(output, HttpReason.WITH_OTHERS);
  }

  /**
   * Returns the map outputs of the next request. ShuffleHandler answers a request with none of its
   * map outputs if one of them is missing, and Hadoop then waits for some time before it asks the
   * host again. Therefore a few are asked for together at first, but none that the node seems to
   * lack with others. After a failure they are asked for one by one, those first that have failed
   * least. If one alone fails as well, a few follow together again: the host may be down, and the
   * scheduler must hear of its other map outputs too.
   *
   * @param outputs map outputs of one host; at least one
   */
  List<TaskAttemptID> next(String host, Collection<TaskAttemptID> outputs) {
    List<TaskAttemptID> there =
        first(outputs, MAX_REQUEST, each -> !failed.containsKey(each) && !isMissing(each));
    if (!there.isEmpty()) {
      return there;
    }
    List<TaskAttemptID> missing = first(outputs, MAX_REQUEST, each -> !failed.containsKey(each));
    if (!missing.isEmpty()) {
      return missing;
    }
    int least = Collections.min(outputs.stream().map(failed::get).collect(Collectors.toList()));
    return first(
        outputs,
        failedAlone.contains(host) ? MAX_REQUEST : 1,
        each -> failed.getOrDefault(each, 0) == least);
  }

  /**
   * Notes that a request for map outputs failed. Hadoop may have asked for others as well, which
   * became known a moment before: the scheduler hears of them all, and counts their failures. Here
   * the failure may be theirs, and changes no more than the order of further requests.
   */
  void failed(String host, Collection<TaskAttemptID> outputs) {
    boolean isOne = outputs.size() == 1;
    outputs.forEach(each -> failed.merge(each, isOne ? 1 : 0, Integer::sum));
    if (isOne) {
      failedAlone.add(host);
    } else {
      failedAlone.remove(host);
    }
  }

  private static List<TaskAttemptID> first(
      Collection<TaskAttemptID> outputs, int limit, Predicate<TaskAttemptID> which) {
    return outputs.stream().filter(which).limit(limit).collect(Collectors.toList());
  }

  private boolean isMissing(TaskAttemptID output) {
    return reasons.get(output) == HttpReason.NOT_REGISTERED;
  }
}
