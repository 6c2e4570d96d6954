// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.spark.util.kvstore.KVIndex;
import org.apache.spark.util.kvstore.KVStore;

/**
 * Everything that the page shows, as one entry of an application's store. {@link StatusListener}
 * writes it, the threads of the web server read it. Immutable. A history server with a disk store
 * keeps it as JSON.
 *
 * @param points bytes over time, oldest first
 * @param executors executors in the order of their arrival, except for lost ones: the last one lost
 *     comes last
 * @param lost number of executors that were lost, also of those that are no longer shown
 */
public record SluiceStatus(
    List<Point> points,
    List<Fallback> fallbacks,
    Reads reads,
    List<KnownExecutor> executors,
    long lost,
    List<SlowPeer> slowPeers,
    List<PeerFallback> peerFallbacks) {
  /** Key of the only entry. */
  static final String KEY = "sluice";

  /** Fills in components that a disk store of another version lacks; so do those below. */
  public SluiceStatus {
    points = points == null ? List.of() : List.copyOf(points);
    fallbacks = fallbacks == null ? List.of() : List.copyOf(fallbacks);
    reads = reads == null ? Reads.NONE : reads;
    peerFallbacks = peerFallbacks == null ? List.of() : List.copyOf(peerFallbacks);
    executors = executors == null ? List.of() : List.copyOf(executors);
    slowPeers = slowPeers == null ? List.of() : List.copyOf(slowPeers);
  }

  /**
   * Bytes at a time.
   *
   * @param time milliseconds since 1970
   */
  public record Point(long time, Bytes bytes) {
    public Point {
      bytes = bytes == null ? Bytes.NONE : bytes;
    }
  }

  /**
   * An executor.
   *
   * @param lost reason for which Spark removed it; empty while it lives
   */
  public record KnownExecutor(Executor executor, String lost) {
    public KnownExecutor {
      executor = executor == null ? Executor.NONE : executor;
      lost = lost == null ? "" : lost;
    }

    boolean lives() {
      return lost.isEmpty();
    }
  }

  /**
   * Entry of an application with the stock shuffle, which has no other one.
   *
   * @param reason why Sluice is off
   * @param setting configuration key that turns it on; empty if there is none
   */
  public record Off(String reason, String setting) {
    public Off {
      reason = reason == null ? "" : reason;
      setting = setting == null ? "" : setting;
    }

    @KVIndex
    public String key() {
      return KEY;
    }

    /** Returns the entry of a store; empty for any other application. */
    static Optional<Off> of(KVStore store) {
      return read(store, Off.class);
    }
  }

  /** Returns the entry's key. A component with this annotation would be two indices to Spark. */
  @KVIndex
  public String key() {
    return KEY;
  }

  /** Returns the sums at the end of the time. */
  Bytes bytes() {
    return points.isEmpty() ? Bytes.NONE : points.get(points.size() - 1).bytes();
  }

  /** Returns the entry of a store; empty for an application without updates of Sluice. */
  static Optional<SluiceStatus> of(KVStore store) {
    return read(store, SluiceStatus.class);
  }

  private static <T> Optional<T> read(KVStore store, Class<T> type) {
    try {
      return Optional.of(store.read(type, KEY));
    } catch (NoSuchElementException e) {
      return Optional.empty();
    } catch (Exception e) { // KVStore throws checked exceptions.
      throw new IllegalStateException("Cannot read Sluice's status from Spark's store", e);
    }
  }
}
