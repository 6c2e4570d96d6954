// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Node daemons that have not answered a task of this executor. Tasks do not ask them for a minute.
 * Then {@code NodeFetch} lets one task try ({@link #admits}). {@link LocatorClient} looks only at
 * {@link #contains}: after the minute its tasks may ask until one of them is that try. A restarted
 * daemon has another id, so it is not among them. Any thread; the executor's runtime has one.
 */
public final class UnresponsiveNodes {
  private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoClock;
  private final Map<PeerAddress, CircuitBreaker> breakers = new ConcurrentHashMap<>();

  public UnresponsiveNodes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Returns true if the daemon is not to be asked now. */
  public boolean contains(PeerAddress node) {
    CircuitBreaker breaker = breakers.get(node);
    return breaker != null && breaker.isBlocked(nanoClock.getAsLong());
  }

  /**
   * Returns true if the caller may ask the daemon. After a minute it admits one caller for all;
   * that caller reports the result.
   */
  public boolean admits(PeerAddress node) {
    CircuitBreaker breaker = breakers.get(node);
    return breaker == null || breaker.admits(nanoClock.getAsLong());
  }

  /** Records that the daemon has not answered. */
  public void add(PeerAddress node) {
    long now = nanoClock.getAsLong();
    // Removes entries of daemons that have ended. No task asks these, so nothing else would.
    breakers.values().removeIf(breaker -> breaker.isClear(now));
    breakers.compute(
        node,
        (_, known) -> {
          CircuitBreaker breaker = known == null ? CircuitBreaker.pausing(PAUSE_NANOS) : known;
          breaker.failed(now);
          return breaker;
        });
  }

  /** Records that the daemon has answered. */
  public void remove(PeerAddress node) {
    breakers.remove(node);
  }
}
