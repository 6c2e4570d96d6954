// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.Arrays;
import java.util.List;

/**
 * Durations that a {@link LatencyHistogram} had at one time, in its buckets, and the bytes of their
 * READs. Durations are in microseconds, and 0 if there is none. Immutable; any thread.
 */
public final class LatencySnapshot {
  private final long[] counts;
  private final long bytes;

  /**
   * @param counts number of durations in each bucket; not copied
   */
  LatencySnapshot(long[] counts, long bytes) {
    this.counts = counts;
    this.bytes = bytes;
  }

  /** Takes a duration and the number of times that it was recorded. */
  @FunctionalInterface
  public interface Taker {
    void take(long micros, long times);
  }

  /**
   * Returns a snapshot of another process, which does not tell the bytes.
   *
   * @param counts as {@link #counts()} returns them; more than there are buckets count in the last
   */
  public static LatencySnapshot of(List<Long> counts) {
    long[] all = new long[LatencyHistogram.BUCKETS];
    for (int i = 0; i < counts.size(); i++) {
      all[Math.min(i, all.length - 1)] += counts.get(i);
    }
    return new LatencySnapshot(all, 0);
  }

  /** Returns the numbers of durations in the buckets, without zeros at the end. */
  public List<Long> counts() {
    int end = counts.length;
    while (end > 0 && counts[end - 1] == 0) {
      end--;
    }
    return Arrays.stream(counts, 0, end).boxed().toList();
  }

  /** Returns the READs of both snapshots. */
  public LatencySnapshot plus(LatencySnapshot other) {
    long[] sums = new long[counts.length];
    for (int i = 0; i < counts.length; i++) {
      sums[i] = counts[i] + other.counts[i];
    }
    return new LatencySnapshot(sums, bytes + other.bytes);
  }

  /** Returns the READs that are not in an earlier snapshot of the same histogram. */
  public LatencySnapshot since(LatencySnapshot earlier) {
    long[] fresh = new long[counts.length];
    for (int i = 0; i < counts.length; i++) {
      fresh[i] = counts[i] - earlier.counts[i];
    }
    return new LatencySnapshot(fresh, bytes - earlier.bytes);
  }

  public long bytes() {
    return bytes;
  }

  /** Returns the number of durations. */
  public long count() {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  /** Calls {@code taker} for each bucket with durations, the shortest first. */
  public void forEach(Taker taker) {
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        taker.take(LatencyHistogram.micros(i), counts[i]);
      }
    }
  }

  /**
   * Returns the duration that a share of all durations does not exceed.
   *
   * @param share from 0 to 1; 0.5 for the median
   */
  public long quantile(double share) {
    long rank = Math.max(1, (long) Math.ceil(share * count()));
    long passed = 0;
    for (int i = 0; i < counts.length; i++) {
      passed += counts[i];
      if (passed >= rank) {
        return LatencyHistogram.micros(i);
      }
    }
    return 0;
  }
}
