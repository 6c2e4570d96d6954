package dev.sluice.rdma.leak;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts resources that are open; for tests it also remembers who opened each of them.
 *
 * <p>Whoever opens a resource calls {@link #opened} and keeps the handle, whose {@link
 * Handle#closed} it calls when the resource is closed. Any thread. The tracker itself holds nothing
 * that has to be closed.
 */
public final class LeakTracker {
  private final boolean recordOpeners;
  private final AtomicLong sequence = new AtomicLong();
  private final AtomicLong openCount = new AtomicLong();
  private final Set<Handle> recorded = ConcurrentHashMap.newKeySet();

  private LeakTracker(boolean recordOpeners) {
    this.recordOpeners = recordOpeners;
  }

  /** A tracker that only counts: what production uses. */
  public static LeakTracker counting() {
    return new LeakTracker(false);
  }

  /** A tracker that takes a stack trace for every resource: for tests. */
  public static LeakTracker recordingOpeners() {
    return new LeakTracker(true);
  }

  /**
   * Notes that a resource was opened.
   *
   * @param kind what it is, such as {@code "memory region"}
   * @param name which one it is; its {@code toString} is called only for a report
   */
  public Handle opened(String kind, Object name) {
    openCount.incrementAndGet();
    if (!recordOpeners) {
      return new Handle(kind, name, 0, null);
    }
    Handle handle =
        new Handle(
            kind, name, sequence.incrementAndGet(), new Throwable("opened " + kind + " here"));
    recorded.add(handle);
    return handle;
  }

  /** Resources that are open now. */
  public long openCount() {
    return openCount.get();
  }

  /** The resources that are open, in the order of their opening; empty if this only counts. */
  public List<Handle> open() {
    return recorded.stream().sorted(Comparator.comparingLong(h -> h.number)).toList();
  }

  /** One resource that is open. */
  public final class Handle {
    private final String kind;
    private final Object name;
    private final long number;
    private final Throwable opener;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Handle(String kind, Object name, long number, Throwable opener) {
      this.kind = kind;
      this.name = name;
      this.number = number;
      this.opener = opener;
    }

    /** Notes that the resource was closed. Idempotent. */
    public void closed() {
      if (closed.compareAndSet(false, true)) {
        openCount.decrementAndGet();
        recorded.remove(this);
      }
    }

    /** Where the resource was opened; null if the tracker only counts. */
    public Throwable opener() {
      return opener;
    }

    @Override
    public String toString() {
      return kind + " " + name;
    }
  }
}
