// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Leases of staged buffers. A buffer stays unchanged until its reader is done or its lease has
 * expired, even if the reader dies. Each {@link Stager} has one. It begins leases on its own
 * threads, ends them on the transport's and expires them on its timer. The caller that takes a
 * lease out releases its buffer, so each lease is taken out once.
 */
public final class Leases {
  /**
   * Duration of a lease. A READ takes milliseconds. A reader that pauses for longer has to ask
   * again, and its buffer is unused until the lease ends.
   */
  public static final long NANOS = 5_000_000_000L;

  /**
   * @param request owns the buffer
   * @param endNanos on the leases' clock
   */
  record Lease(long id, StageRequest request, long endNanos) {}

  private final LongSupplier nanoClock;

  // Guarded by this. All leases have the same duration, so insertion order is order of expiry.
  private final Map<Long, Lease> leases = new LinkedHashMap<>();

  private boolean closed;

  /** Starts at a random id, so that an id of an earlier process at this address is unknown here. */
  private long nextId = ThreadLocalRandom.current().nextLong();

  Leases(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Begins a lease; null after {@link #close}. */
  synchronized @Nullable Lease begin(StageRequest request) {
    if (closed) {
      return null;
    }
    Lease lease = new Lease(nextId++, request, nanoClock.getAsLong() + NANOS);
    leases.put(lease.id(), lease);
    return lease;
  }

  /** Ends a lease and returns its request; null if it has expired or belongs to another peer. */
  synchronized @Nullable StageRequest end(Object peer, long id) {
    Lease lease = leases.get(id);
    if (lease == null || !lease.request().peer().equals(peer)) {
      return null;
    }
    leases.remove(id);
    return lease.request();
  }

  /** Takes out the expired leases. */
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

  /** Takes out all leases, and begins no new ones. */
  synchronized List<StageRequest> close() {
    closed = true;
    List<StageRequest> all = leases.values().stream().map(Lease::request).toList();
    leases.clear();
    return all;
  }
}
