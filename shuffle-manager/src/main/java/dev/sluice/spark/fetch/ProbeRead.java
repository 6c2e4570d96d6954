// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.transport.FallbackReason;

/**
 * READ of one batch of a peer that is avoided, which tells {@link LateReads} if the peer is in time
 * again. Spark's transfer fetches the same blocks, so that no task waits for the probe. The bytes
 * are dropped. {@link GroupFetch} makes and starts it. Each step runs on the thread that ended the
 * step before. The buffer comes back when the READ ends, even after the end of the task.
 */
final class ProbeRead implements FetchBudget.Request, RangeFetch.Sink {
  private final TaskReads task;
  private final LateReads.Read read;
  private final RangeFetch fetch;
  private final long deadlineNanos;
  private volatile boolean ended;

  /**
   * @param task task whose staging slots it takes
   */
  ProbeRead(FetchContext path, TaskReads task, Span span) {
    this.task = task;
    this.read = path.lateReads().new Read(span.located().peer().id(), span.bytes());
    this.fetch = new RangeFetch(path, this, span, this);
    this.deadlineNanos = path.deadlineNanos();
  }

  /** Starts the READ, unless a limit of extra bytes is reached. */
  void start() {
    if (read.holdProbe()) {
      fetch.start();
    }
  }

  @Override
  public TaskReads task() {
    return task;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** Does nothing: a probe is one batch, and no others of its kind arrive before it. */
  @Override
  public void extendDeadline() {}

  @Override
  public boolean awaits() {
    return !ended;
  }

  @Override
  public boolean readBegins() {
    return read.begin();
  }

  @Override
  public void readEnded(int bytes) {
    ended = true;
    read.end(bytes);
  }

  @Override
  public void arrived(Permit permit, Span there) {
    permit.close();
    read.close();
  }

  @Override
  public void failed(FallbackReason reason) {
    read.close();
  }

  @Override
  public void dropped() {
    read.close();
  }
}
