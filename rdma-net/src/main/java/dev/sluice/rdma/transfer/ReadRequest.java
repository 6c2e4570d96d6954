package dev.sluice.rdma.transfer;

import dev.sluice.rdma.RemoteRegion;
import java.util.List;

/**
 * Ranges of one peer's memory to READ back to back into one buffer.
 *
 * @param peer the peer
 * @param ranges what to READ, in the order of the target's bytes
 * @param target takes the bytes; the engine retains it until no READ can write to it any more,
 *     whatever the listener does with its own reference
 * @param deadlineNanos {@link System#nanoTime} by which the listener is answered
 * @param listener gets exactly one answer
 */
public record ReadRequest(
    PeerAddress peer,
    List<RemoteRegion> ranges,
    PooledBuffer target,
    long deadlineNanos,
    ReadListener listener) {

  /**
   * @throws IllegalArgumentException for ranges that do not fit into the target
   */
  public ReadRequest {
    ranges = List.copyOf(ranges);
    long room = target.bytes();
    for (RemoteRegion range : ranges) {
      if (range.length() < 0 || range.length() > room) {
        throw new IllegalArgumentException(
            "%s of %s do not fit into a buffer of %d bytes"
                .formatted(ranges, peer, target.bytes()));
      }
      room -= range.length();
    }
  }

  /** Bytes of all ranges. */
  public long bytes() {
    long bytes = 0;
    for (RemoteRegion range : ranges) {
      bytes += range.length();
    }
    return bytes;
  }
}
