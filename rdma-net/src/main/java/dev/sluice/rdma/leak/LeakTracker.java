package dev.sluice.rdma.leak;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Remembers, for tests, which resources are open and who opened each of them.
 *
 * <p>Whoever opens a resource calls {@link #opened} and keeps the handle, whose {@link
 * Handle#closed} it calls when the resource is closed. Any thread. The tracker itself holds nothing
 * that has to be closed.
 */
public final class LeakTracker {
  /** Remembers nothing: what production uses. */
  public static final LeakTracker NONE = new LeakTracker();

  private static final Handle UNKNOWN = new Handle(NONE, "resource", "", 0);

  private final AtomicLong sequence = new AtomicLong();
  private final Set<Handle> open = ConcurrentHashMap.newKeySet();

  /**
   * Notes that a resource was opened, and by which stack.
   *
   * @param kind what it is, such as {@code "memory region"}
   * @param name which one it is; its {@code toString} is called only for a report
   */
  public Handle opened(String kind, Object name) {
    if (this == NONE) {
      return UNKNOWN;
    }
    Handle handle = new Handle(this, kind, name, sequence.incrementAndGet());
    open.add(handle);
    return handle;
  }

  /** The resources that are open, in the order of their opening. */
  public List<Handle> open() {
    return open.stream().sorted(Comparator.comparingLong(h -> h.number)).toList();
  }

  /** One resource that is open. */
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

    /** Notes that the resource was closed. Idempotent. */
    public void closed() {
      tracker.open.remove(this);
    }

    /** Where the resource was opened. */
    public Throwable opener() {
      return opener;
    }

    @Override
    public String toString() {
      return kind + " " + name;
    }
  }
}
