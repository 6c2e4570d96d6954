package dev.sluice.blocks;

import dev.sluice.rdma.transfer.PooledBuffer;
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
   * @param peer whose it is
   * @param endNanos on the leases' clock
   */
  record Lease(long id, Object peer, PooledBuffer buffer, long endNanos) {}

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
  synchronized Lease begin(Object peer, PooledBuffer buffer) {
    if (closed) {
      return null;
    }
    Lease lease = new Lease(nextId++, peer, buffer, nanoClock.getAsLong() + NANOS);
    leases.put(lease.id(), lease);
    return lease;
  }

  /** Null where it has run out, or is another peer's. */
  synchronized Lease end(Object peer, long id) {
    Lease lease = leases.get(id);
    return lease != null && lease.peer().equals(peer) ? leases.remove(id) : null;
  }

  /** Takes out those that have run out. */
  synchronized List<Lease> expire() {
    List<Lease> expired = new ArrayList<>();
    long now = nanoClock.getAsLong();
    for (Iterator<Lease> i = leases.values().iterator(); i.hasNext(); ) {
      Lease lease = i.next();
      if (lease.endNanos() - now > 0) {
        break;
      }
      i.remove();
      expired.add(lease);
    }
    return expired;
  }

  /** Takes out all, and gives no more. */
  synchronized List<Lease> close() {
    closed = true;
    List<Lease> all = List.copyOf(leases.values());
    leases.clear();
    return all;
  }
}
