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
 * back to the scheduler those that were not copied, as Hadoop's own fetcher does. Map outputs for
 * which the node was late come last, so that the next visit begins with others.
 */
final class HostOutputs {
  /** Map outputs that the scheduler gives at a time (MAX_MAPS_AT_ONCE of ShuffleSchedulerImpl). */
  private static final int PART = 20;

  private final MapHost host;
  private final ShuffleSchedulerImpl<?, ?> scheduler;
  private final HttpOutputs byHttp;

  /** Map outputs to READ that the node has not been asked for during this visit. */
  private final Deque<TaskAttemptID> toLocate = new ArrayDeque<>();

  /** Map outputs that the node has been asked for and that were not copied. */
  private final Deque<TaskAttemptID> left = new ArrayDeque<>();

  /** Map outputs for which the node was late. */
  private final Deque<TaskAttemptID> late = new ArrayDeque<>();

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

  /**
   * Takes all map outputs that the host is known to have, without those that are obsolete. The
   * scheduler sorts these out for a few at a time, and looks through all that the host then has: it
   * gets them in small parts.
   */
  void take() {
    List<TaskAttemptID> known = host.getAndClearKnownMaps();
    for (int from = 0; from < known.size(); from += PART) {
      giveBack(known.subList(from, Math.min(known.size(), from + PART)));
      List<TaskAttemptID> some = scheduler.getMapsForHost(host);
      while (!some.isEmpty()) {
        for (TaskAttemptID each : some) {
          (byHttp.contains(each) ? http : toLocate).add(each);
        }
        some = scheduler.getMapsForHost(host);
      }
    }
  }

  /** Gives back all map outputs that were not copied. */
  void giveBack() {
    giveBack(left);
    giveBack(toLocate);
    giveBack(late);
    giveBack(http);
  }

  private void giveBack(Collection<TaskAttemptID> outputs) {
    for (TaskAttemptID each : outputs) {
      scheduler.putBackKnownMapOutput(host, each);
    }
  }

  /** Returns true if the node has been asked for all map outputs to READ. */
  boolean areLocated() {
    return toLocate.isEmpty();
  }

  /** Returns the next map outputs to ask the node for. */
  List<TaskAttemptID> next(int limit) {
    List<TaskAttemptID> some = new ArrayList<>();
    while (some.size() < limit && !toLocate.isEmpty()) {
      some.add(toLocate.remove());
    }
    left.addAll(some);
    return some;
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

  /** Leaves all map outputs to HTTP that were not copied. */
  void leaveAll(HttpReason reason, Object why) {
    left.addAll(toLocate);
    left.addAll(late);
    toLocate.clear();
    late.clear();
    leave(new ArrayList<>(left), reason, why);
  }

  /**
   * Notes that the node was late for a map output. It is given back, to be asked for during a later
   * visit; after a few times it is left to HTTP.
   */
  void late(TaskAttemptID output, Object why) {
    if (byHttp.mayBeAskedAgain(output)) {
      left.remove(output);
      late.add(output);
    } else {
      leave(output, HttpReason.STAGING, why);
    }
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
