package dev.sluice.spark.read;

import dev.sluice.spark.transport.ReadTransport;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * What was READ and waits for a task to begin with it, perhaps for long: a task has readers that it
 * comes to later. When somebody has to wait for a buffer, what has waited longest leaves the pool,
 * for memory such as Spark's own transfer has it in, and within the same limits. So nobody waits
 * for a buffer of one who is idle. Any thread; nothing to close.
 */
final class ParkedBytes {
  private final ReadTransport transport;
  private final Executor executor;

  /** Guarded by this. */
  private final Set<SharedBytes> holders = new LinkedHashSet<>();

  /**
   * @param executor copies
   */
  ParkedBytes(ReadTransport transport, Executor executor) {
    this.transport = transport;
    this.executor = executor;
    transport.onShortage(this::relieveSoon);
  }

  /** Until {@link #remove}, which who begins with them calls, or releases them. */
  void add(SharedBytes holder) {
    synchronized (this) {
      holders.add(holder);
    }
    if (transport.isShort()) {
      relieveSoon();
    }
  }

  synchronized void remove(SharedBytes holder) {
    holders.remove(holder);
  }

  private void relieveSoon() {
    executor.execute(this::relieve);
  }

  private void relieve() {
    SharedBytes longest = null;
    boolean moved = true;
    do {
      longest = transport.isShort() ? takeLongest() : null;
      moved = longest != null && longest.moveOut();
    } while (moved);
    if (longest != null) {
      synchronized (this) {
        holders.add(longest);
      }
    }
  }

  private synchronized SharedBytes takeLongest() {
    Iterator<SharedBytes> oldest = holders.iterator();
    SharedBytes holder = oldest.hasNext() ? oldest.next() : null;
    if (holder != null) {
      oldest.remove();
    }
    return holder;
  }
}
