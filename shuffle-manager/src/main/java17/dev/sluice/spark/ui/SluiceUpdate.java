// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * State of an application's shuffles at a time: an event for Spark's listeners and its event log,
 * which has it as JSON. The driver makes one every few seconds while bytes move, and one when the
 * application ends. Any thread; immutable.
 *
 * @param time milliseconds since 1970
 * @param unchangedUntil time until which the bytes were those of the update before
 * @param bytes sums over all executors, also those that are gone
 * @param fallbacks blocks that fell back, by reason; without reasons that did not occur
 * @param reads READ requests of all executors
 * @param executors executors whose state has changed since the update with executors before; only
 *     in some updates, the fewer the more executors there are
 * @param slowPeers peers whose recent READs took longest, the slowest first
 * @param peerFallbacks pairs of peer and reason with the most blocks that fell back, and the sum of
 *     all others as the last one
 */
public record SluiceUpdate(
    long time,
    long unchangedUntil,
    Bytes bytes,
    List<Fallback> fallbacks,
    Reads reads,
    List<Executor> executors,
    List<SlowPeer> slowPeers,
    List<PeerFallback> peerFallbacks)
    implements SparkListenerEvent {

  /** Fills in the components that an event log of another version lacks. */
  public SluiceUpdate {
    bytes = bytes == null ? Bytes.NONE : bytes;
    fallbacks = fallbacks == null ? List.of() : List.copyOf(fallbacks);
    reads = reads == null ? Reads.NONE : reads;
    executors = executors == null ? List.of() : List.copyOf(executors);
    slowPeers = slowPeers == null ? List.of() : List.copyOf(slowPeers);
    peerFallbacks = peerFallbacks == null ? List.of() : List.copyOf(peerFallbacks);
  }

  /**
   * Bytes of shuffle blocks by path.
   *
   * @param registered READ from registered map outputs
   * @param staged READ from staging memory
   * @param local from disk or memory of the same executor or host
   * @param fallback by Spark's own transfer
   */
  public record Bytes(long registered, long staged, long local, long fallback) {
    static final Bytes NONE = new Bytes(0, 0, 0, 0);

    long remote() {
      return registered + staged + fallback;
    }

    long all() {
      return remote() + local;
    }
  }

  /**
   * Blocks that fell back to Spark's own transfer for one reason.
   *
   * @param key configuration key that reduces them; empty if there is none
   */
  public record Fallback(String reason, long blocks, long bytes, String key) {
    /** Fills in components that an event log of another version lacks; so do those below. */
    public Fallback {
      reason = text(reason);
      key = text(key);
    }
  }

  /**
   * Blocks of a peer that fell back to Spark's own transfer for one reason, at all executors.
   *
   * @param peer name and address
   * @param reason empty for the sum of several
   * @param key configuration key that reduces them; empty if there is none
   */
  public record PeerFallback(String peer, String reason, long blocks, String key) {
    public PeerFallback {
      peer = text(peer);
      reason = text(reason);
      key = text(key);
    }
  }

  /**
   * Times of READ requests, from the post of the first work request to the last completion, in
   * microseconds. The percentiles are off by an eighth at most.
   *
   * @param count requests that succeeded, or missed their deadline
   */
  public record Reads(long count, long p50Micros, long p99Micros) {
    public static final Reads NONE = new Reads(0, 0, 0);
  }

  /**
   * State of an executor, as it reported it last.
   *
   * @param gone true if this is its last row, as Spark has removed it
   * @param fallbacks its blocks that fell back, by reason
   */
  public record Executor(
      String id,
      boolean gone,
      Place place,
      Bytes bytes,
      List<Fallback> fallbacks,
      Memory memory,
      QueuePairs queuePairs,
      Reads reads) {
    static final Executor NONE =
        new Executor(
            "", false, Place.NONE, Bytes.NONE, List.of(), Memory.NONE, QueuePairs.NONE, Reads.NONE);

    public Executor {
      id = text(id);
      place = place == null ? Place.NONE : place;
      bytes = bytes == null ? Bytes.NONE : bytes;
      fallbacks = fallbacks == null ? List.of() : List.copyOf(fallbacks);
      memory = memory == null ? Memory.NONE : memory;
      queuePairs = queuePairs == null ? QueuePairs.NONE : queuePairs;
      reads = reads == null ? Reads.NONE : reads;
    }
  }

  /**
   * Device of an executor. Strings are empty where there is nothing to name.
   *
   * @param provider {@code verbs}, {@code soft}, or {@code off} without READs
   * @param address host and port of its block server
   * @param reason why it is not a better provider
   */
  public record Place(String provider, String device, String gid, String address, String reason) {
    /** Provider of an executor that has not described itself yet. */
    static final String UNKNOWN = "unknown";

    static final Place NONE = new Place(UNKNOWN, "", "", "", "");

    public Place {
      provider = provider == null ? UNKNOWN : provider;
      device = text(device);
      gid = text(gid);
      address = text(address);
      reason = text(reason);
    }
  }

  /** Bytes of memory in use, and their limits. */
  public record Memory(
      long registered,
      long maxRegistered,
      long staging,
      long maxStaging,
      long buffers,
      long maxBuffers) {
    static final Memory NONE = new Memory(0, 0, 0, 0, 0, 0);
  }

  /**
   * Queue pairs that are open now.
   *
   * @param reading to READ from peers
   * @param serving for peers that READ from here
   */
  public record QueuePairs(long reading, long serving) {
    static final QueuePairs NONE = new QueuePairs(0, 0);
  }

  /**
   * A peer that executors named among the slowest of theirs in the last minutes.
   *
   * @param peer name and address
   * @param readers number of executors that named it
   * @param bytes bytes that they READ from it lately
   * @param reads recent requests of these executors; p50 is the median of theirs, p99 the largest
   */
  public record SlowPeer(String peer, int readers, long bytes, Reads reads) {
    public SlowPeer {
      peer = text(peer);
      reads = reads == null ? Reads.NONE : reads;
    }
  }

  private static String text(String given) {
    return given == null ? "" : given;
  }
}
