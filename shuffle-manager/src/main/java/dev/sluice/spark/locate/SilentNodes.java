package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The block servers of nodes that have not answered one of this executor's tasks: the others leave
 * them alone for a minute, after which one of them tries again. A server that was started again is
 * another one. Any thread; the executor's runtime has one.
 */
public final class SilentNodes {
  private static final long LEFT_ALONE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoClock;
  private final Map<PeerAddress, Long> untilNanos = new ConcurrentHashMap<>();

  public SilentNodes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Whether it is to be left alone. */
  public boolean contains(PeerAddress node) {
    Long until = untilNanos.get(node);
    return until != null && nanoClock.getAsLong() - until < 0;
  }

  /**
   * Whether to ask it; who may ask one that was silent does so for all, and says what came of it.
   */
  public boolean admits(PeerAddress node) {
    Long until = untilNanos.get(node);
    long now = nanoClock.getAsLong();
    return until == null
        || (now - until >= 0 && untilNanos.replace(node, until, now + LEFT_ALONE_NANOS));
  }

  /** It has not answered. */
  public void add(PeerAddress node) {
    long now = nanoClock.getAsLong();
    // Nobody asks those that have ended.
    untilNanos.values().removeIf(until -> now - until > LEFT_ALONE_NANOS);
    untilNanos.put(node, now + LEFT_ALONE_NANOS);
  }

  /** It has answered. */
  public void remove(PeerAddress node) {
    untilNanos.remove(node);
  }
}
