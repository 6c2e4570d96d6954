// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.rdma.transfer.SlowPeers;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names the peers that are slow for all executors together, by a WARN with the marker {@code
 * SLOW_PEER} in the driver's log, at most once a minute. An executor names a peer by itself only
 * after ten READs from it in a minute. On a large cluster each executor has fewer, but all together
 * have many. {@link UiFeed} makes it, and calls it on its thread.
 */
final class SlowPeersOfAll {
  private static final Logger LOG = LoggerFactory.getLogger(SlowPeersOfAll.class);

  private static final long QUIET_MS = TimeUnit.NANOSECONDS.toMillis(SlowPeers.WINDOW_NANOS);

  /** READs of the application when it last named peers. */
  private long readsThen;

  private long quietUntilMs = Long.MIN_VALUE;

  /**
   * Looks at the slowest peers, and is silent if nothing was READ since it named some.
   *
   * @param slowest recent READs from the slowest peers, of all executors
   * @param othersMicros median of the recent medians of all peers, in microseconds
   * @param all all READs of the application
   * @param nowMs milliseconds since any moment
   */
  void look(List<SlowPeer> slowest, long othersMicros, Reads all, long nowMs) {
    if (nowMs < quietUntilMs || all.count() == readsThen) {
      return;
    }
    // READs of a stage with large blocks may all take longer than those before.
    long others = Math.max(othersMicros, all.p50Micros());
    List<SlowPeer> slow = slowest.stream().filter(peer -> isSlow(peer.reads(), others)).toList();
    if (!slow.isEmpty()) {
      readsThen = all.count();
      quietUntilMs = nowMs + QUIET_MS;
      LOG.warn(
          "SLOW_PEER {}; the median of other peers is {} ms. Tasks wait for their slowest peer: check"
              + " load, disks and network of its host (the doctor's --serve and --peer measure the"
              + " network). Setting spark.shuffle.rdma.read.timeout limits the wait for a READ",
          slow.stream().map(SlowPeersOfAll::text).collect(Collectors.joining(", ")),
          SlowPeers.millis(others));
    }
  }

  private static boolean isSlow(Reads reads, long othersMicros) {
    return reads.count() >= SlowPeers.MIN_READS
        && SlowPeers.isSlow(reads.p50Micros(), othersMicros);
  }

  private static String text(SlowPeer peer) {
    return "%s (median %s ms of %d READs by %d executors)"
        .formatted(
            peer.peer(),
            SlowPeers.millis(peer.reads().p50Micros()),
            peer.reads().count(),
            peer.readers());
  }
}
