// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.transport.ReadTransport;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * READ bytes that wait for a task to read them. This may take long, as a task reaches some of its
 * readers late. When a reader has to wait for a buffer, the bytes that have waited longest leave
 * the pool. They go to memory of the kind that Spark's own transport uses, within its limits. An
 * idle reader thus keeps no buffer from others. An executor has one, which {@link SharedBytes}
 * calls on any thread; delivery threads copy. Nothing to close. This lock may be held while a
 * SharedBytes' lock is taken, never the other way round.
 */
final class EvictableBuffers {
  private final ReadTransport transport;
  private final Executor executor;

  /** Guarded by this. */
  private final Set<SharedBytes> holders = new LinkedHashSet<>();

  /**
   * @param executor copies the bytes
   */
  EvictableBuffers(ReadTransport transport, Executor executor) {
    this.transport = transport;
    this.executor = executor;
    transport.onShortage(this::relieveSoon);
  }

  /** Adds waiting bytes. The thread that first reads or releases them calls {@link #remove}. */
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
      putBack(longest);
    }
  }

  /**
   * Puts bytes back that could not be moved. Not if their last block was released meanwhile, since
   * no thread would remove them then.
   */
  private synchronized void putBack(SharedBytes holder) {
    holders.add(holder);
    if (!holder.isHeld()) {
      holders.remove(holder);
    }
  }

  private synchronized @Nullable SharedBytes takeLongest() {
    Iterator<SharedBytes> oldest = holders.iterator();
    SharedBytes holder = oldest.hasNext() ? oldest.next() : null;
    if (holder != null) {
      oldest.remove();
    }
    return holder;
  }
}
