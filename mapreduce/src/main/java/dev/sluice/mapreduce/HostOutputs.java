// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;

/**
 * Known map outputs of one host during a visit of a fetcher: those to READ and those to fetch by
 * HTTP. {@link RdmaFetcher} makes one for each visit and uses it on its thread. At the end it gives
 * back to the scheduler those that were not copied, as Hadoop's own fetcher does.
 */
final class HostOutputs {
  private final MapHost host;
  private final ShuffleSchedulerImpl<?, ?> scheduler;
  private final HttpOutputs byHttp;

  /** Map outputs to READ that were not copied. */
  private final Deque<TaskAttemptID> left = new ArrayDeque<>();

  private final Deque<TaskAttemptID> http = new ArrayDeque<>();

  HostOutputs(MapHost host, ShuffleSchedulerImpl<?, ?> scheduler, HttpOutputs byHttp) {
    this.host = host;
    this.scheduler = scheduler;
    this.byHttp = byHttp;
  }

  MapHost host() {
    return host;
  }

  /** Name of the host without the port of its ShuffleHandler. */
  String hostName() {
    String name = host.getHostName();
    int port = name.lastIndexOf(':');
    return port < 0 ? name : name.substring(0, port);
  }

  /** Takes all map outputs that the host is known to have; the scheduler gives a few at a time. */
  void take() {
    List<TaskAttemptID> some = scheduler.getMapsForHost(host);
    while (!some.isEmpty()) {
      for (TaskAttemptID each : some) {
        (byHttp.contains(each) ? http : left).add(each);
      }
      some = scheduler.getMapsForHost(host);
    }
  }

  /** Gives back all map outputs that were not copied. */
  void giveBack() {
    giveBack(left);
    giveBack(http);
  }

  private void giveBack(Collection<TaskAttemptID> outputs) {
    for (TaskAttemptID each : outputs) {
      scheduler.putBackKnownMapOutput(host, each);
    }
  }

  /** Returns true if none is left to READ. */
  boolean isRead() {
    return left.isEmpty();
  }

  /** Returns all that are left to READ. */
  List<TaskAttemptID> toRead() {
    return new ArrayList<>(left);
  }

  /** Notes that a map output was READ. */
  void copied(TaskAttemptID output) {
    left.remove(output);
  }

  /**
   * Leaves a map output to HTTP.
   *
   * @param why description of the failure
   */
  void leave(TaskAttemptID output, HttpReason reason, Object why) {
    byHttp.add(output, reason, host.getHostName(), why);
    left.remove(output);
    http.add(output);
  }

  void leave(Collection<TaskAttemptID> outputs, HttpReason reason, Object why) {
    outputs.forEach(each -> leave(each, reason, why));
  }

  /** Returns true if a map output waits for HTTP. */
  boolean hasHttp() {
    return !http.isEmpty();
  }

  /**
   * Gives back the map outputs of the next request by HTTP, for Hadoop's fetcher to find them.
   *
   * @return these map outputs
   */
  List<TaskAttemptID> giveBackForHttp() {
    List<TaskAttemptID> some = byHttp.next(host.getHostName(), http);
    http.removeAll(some);
    giveBack(some);
    return some;
  }
}
