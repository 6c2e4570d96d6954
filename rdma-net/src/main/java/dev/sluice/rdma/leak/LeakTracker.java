// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.leak;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records, for tests, which resources are open and which code opened them.
 *
 * <p>The opener of a resource calls {@link #opened}, keeps the handle, and calls {@link
 * Handle#closed} when it closes the resource. Any thread. The options of a device carry the
 * tracker; in production it is {@link #NONE}. The tracker itself holds nothing to close.
 */
public final class LeakTracker {
  /** Records nothing. For production. */
  public static final LeakTracker NONE = new LeakTracker();

  private static final Handle UNKNOWN = new Handle(NONE, "resource", "", 0);

  private final AtomicLong sequence = new AtomicLong();
  private final Set<Handle> open = ConcurrentHashMap.newKeySet();

  /**
   * Records that a resource was opened, with the opener's stack.
   *
   * @param kind its kind, such as {@code "memory region"}
   * @param name its name; {@code toString} is called only for a report
   */
  public Handle opened(String kind, Object name) {
    if (this == NONE) {
      return UNKNOWN;
    }
    Handle handle = new Handle(this, kind, name, sequence.incrementAndGet());
    open.add(handle);
    return handle;
  }

  /** Returns the open resources, in the order of their opening. */
  public List<Handle> open() {
    return open.stream().sorted(Comparator.comparingLong(h -> h.number)).toList();
  }

  /** One open resource. */
  public static final class Handle {
    private final LeakTracker tracker;
    private final String kind;
    private final Object name;
    private final long number;
    private final Throwable opener;

    private Handle(LeakTracker tracker, String kind, Object name, long number) {
      this.tracker = tracker;
      this.kind = kind;
      this.name = name;
      this.number = number;
      opener = new Throwable("opened " + kind + " here");
    }

    /** Records that the resource was closed. Idempotent. */
    public void closed() {
      tracker.open.remove(this);
    }

    /** Stack that opened the resource. */
    public Throwable opener() {
      return opener;
    }

    @Override
    public String toString() {
      return kind + " " + name;
    }
  }
}
