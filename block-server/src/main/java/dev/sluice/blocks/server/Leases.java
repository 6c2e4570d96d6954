package dev.sluice.blocks.server;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * What peers may READ for a while: a buffer stays as it is until its reader is done or its lease
 * has run out, whatever else becomes of the reader. Any thread; whoever takes a lease out releases
 * its buffer.
 */
final class Leases {
  /**
   * A READ takes milliseconds. A reader that stands still for longer asks again; until then its
   * buffer is nobody's.
   */
  static final long NANOS = 5_000_000_000L;

  /**
   * @param request has the buffer
   * @param endNanos on the leases' clock
   */
  record Lease(long id, StageRequest request, long endNanos) {}

  private final LongSupplier nanoClock;

  // Guarded by this. All leases are of one length, so those that end first come first.
  private final Map<Long, Lease> leases = new LinkedHashMap<>();

  private boolean closed;

  /** Begins anywhere, so that what another process has given out here before is not known. */
  private long nextId = ThreadLocalRandom.current().nextLong();

  Leases(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Null once it is closed. */
  synchronized Lease begin(StageRequest request) {
    if (closed) {
      return null;
    }
    Lease lease = new Lease(nextId++, request, nanoClock.getAsLong() + NANOS);
    leases.put(lease.id(), lease);
    return lease;
  }

  /** Whose lease it was; null where it has run out, or is another peer's. */
  synchronized StageRequest end(Object peer, long id) {
    Lease lease = leases.get(id);
    boolean isTheirs = lease != null && lease.request().peer().equals(peer);
    return isTheirs ? leases.remove(id).request() : null;
  }

  /** Takes out those that have run out. */
  synchronized List<StageRequest> expire() {
    List<StageRequest> expired = new ArrayList<>();
    long now = nanoClock.getAsLong();
    for (Iterator<Lease> i = leases.values().iterator(); i.hasNext(); ) {
      Lease lease = i.next();
      if (lease.endNanos() - now > 0) {
        break;
      }
      i.remove();
      expired.add(lease.request());
    }
    return expired;
  }

  /** Takes out all, and gives no more. */
  synchronized List<StageRequest> close() {
    closed = true;
    List<StageRequest> all = leases.values().stream().map(Lease::request).toList();
    leases.clear();
    return all;
  }
}
