// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Node daemons that are away: their ports refuse connections, as while a daemon restarts. A daemon
 * that takes connections and does not answer is not away, and neither is a machine that does not
 * answer. An answer ends an absence, a mere connection does not: a daemon that ends at its first
 * request, and is restarted each time, stays within one limit.
 *
 * <p>The driver and each executor have one. On the driver {@code NodeLifetimes} asks it, on
 * executors {@code NodeFetch}: on virtual threads, as {@link #isAway} and {@link #refuses} block.
 * It has no lock, so two threads may probe at once. Ask {@link #isAway} before {@link
 * #isWaitedFor}. Nothing to close.
 */
public final class AwayNodes {

  /** A machine that is there refuses at once; one that takes longer is not taken for away. */
  private static final int CONNECT_TIMEOUT_MS = 1_000;

  /** A daemon is probed once in this time, however many threads ask. */
  private static final long PROBE_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** An absence is forgotten if no thread has asked about it for this time: it may have ended. */
  private static final long LOOKED_AT_NANOS = TimeUnit.SECONDS.toNanos(60);

  /**
   * A time without an answer, from the first refused connection on.
   *
   * @param refused true if the last connection was refused
   */
  private record Absence(long sinceNanos, long probedNanos, boolean refused) {}

  private final long limitNanos;
  private final Predicate<PeerAddress> refusal;
  private final LongSupplier nanoClock;
  private final Map<PeerAddress, Absence> absences = new ConcurrentHashMap<>();

  /**
   * @param limitNanos how long to wait for a daemon that is away
   * @param refusal tells whether a daemon refuses connections: {@link #refuses(PeerAddress)}
   */
  public AwayNodes(long limitNanos, Predicate<PeerAddress> refusal, LongSupplier nanoClock) {
    this.limitNanos = limitNanos;
    this.refusal = refusal;
    this.nanoClock = nanoClock;
  }

  /** Returns true if the daemon is away. Blocks for the time of a connection at most. */
  public boolean isAway(PeerAddress node) {
    long nowNanos = nanoClock.getAsLong();
    Absence known = absences.get(node);
    if (known != null && nowNanos - known.probedNanos() < PROBE_EVERY_NANOS) {
      return known.refused();
    }
    boolean refused = refusal.test(node);
    absences.values().removeIf(other -> nowNanos - other.probedNanos() > LOOKED_AT_NANOS);
    absences.compute(node, (_, before) -> looked(before, nowNanos, refused));
    return refused;
  }

  private static @Nullable Absence looked(Absence before, long nowNanos, boolean refused) {
    if (before == null && !refused) {
      return null;
    }
    return new Absence(before == null ? nowNanos : before.sinceNanos(), nowNanos, refused);
  }

  /** Called when the daemon has answered. */
  public void answered(PeerAddress node) {
    absences.remove(node);
  }

  /** Returns true if a daemon that {@link #isAway} is still within its limit. */
  public boolean isWaitedFor(PeerAddress node) {
    return isWaitedFor(node, 0);
  }

  /**
   * Returns the same as {@link #isWaitedFor(PeerAddress)} with a longer limit.
   *
   * @param moreNanos how much later other processes may notice that the daemon is away
   */
  public boolean isWaitedFor(PeerAddress node, long moreNanos) {
    return isWithin(awayNanos(node), moreNanos);
  }

  /** Returns true if a caller that has waited for this long is still within the longer limit. */
  public boolean isWithin(long waitedNanos, long moreNanos) {
    return waitedNanos < limitNanos + moreNanos;
  }

  /** Returns the time on the clock of absences. */
  public long nanoTime() {
    return nanoClock.getAsLong();
  }

  private long awayNanos(PeerAddress node) {
    Absence known = absences.get(node);
    return known == null ? 0 : nanoClock.getAsLong() - known.sinceNanos();
  }

  /**
   * Returns true if the daemon's port refuses a connection. A machine or network that is
   * unreachable does not refuse: Java throws other exceptions for these than {@link
   * ConnectException}.
   */
  public static boolean refuses(PeerAddress node) {
    return refuses(node, CONNECT_TIMEOUT_MS);
  }

  /**
   * Returns the same as {@link #refuses(PeerAddress)}.
   *
   * @param timeoutMs time after which a machine that has not answered counts as not there
   */
  public static boolean refuses(PeerAddress node, int timeoutMs) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(node.host(), node.port()), timeoutMs);
      return false;
    } catch (ConnectException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
