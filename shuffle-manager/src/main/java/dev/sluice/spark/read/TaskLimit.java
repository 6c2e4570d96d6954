package dev.sluice.spark.read;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many bytes of remote chunks a task READs or has waiting at most, in equal parts for those of
 * its readers that have chunks to come: of a join's or cogroup's readers one is consumed after the
 * other, and none waits for what an idle one holds. Any thread.
 */
final class TaskLimit {
  private final long bytes;
  private final AtomicInteger readers = new AtomicInteger();

  TaskLimit(long bytes) {
    this.bytes = bytes;
  }

  long bytes() {
    return bytes;
  }

  void enter() {
    readers.incrementAndGet();
  }

  void leave() {
    readers.decrementAndGet();
  }

  /** A reader's. What one had before others entered it keeps until it is consumed. */
  long part() {
    return bytes / Math.max(1, readers.get());
  }
}
