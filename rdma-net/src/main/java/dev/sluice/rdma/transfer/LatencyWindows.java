// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.List;

/**
 * READs of a {@link LatencyHistogram} in its last two windows, the one that goes on and the one
 * before. Its user decides when a window ends. {@link SlowPeers}, the tab in Spark's UI and the
 * hedge of late READs have windows for the READs that they compare.
 *
 * <p>One thread at a time. Any thread may record meanwhile. Costs less than 2 kB, and nothing to
 * close.
 */
public final class LatencyWindows {
  private static final LatencySnapshot NONE = LatencySnapshot.of(List.of());

  private final LatencyHistogram reads;

  /** READs until the window before began. */
  private LatencySnapshot beforePrevious = NONE;

  /** READs until the current window began. */
  private LatencySnapshot beforeCurrent = NONE;

  /** Begins the first window, which has all READs of the histogram. */
  public LatencyWindows(LatencyHistogram reads) {
    this.reads = reads;
  }

  /** Returns true if the windows are those of this histogram. */
  public boolean areOf(LatencyHistogram histogram) {
    return reads == histogram;
  }

  /** Returns the READs of both windows. */
  public LatencySnapshot recent() {
    return reads.snapshot().since(beforePrevious);
  }

  /** Begins the next window. The current one becomes the one before. */
  public void next() {
    next(0);
  }

  /**
   * Begins the next window as {@link #next} does.
   *
   * @param minReads READs without which the current window goes on
   */
  public void next(int minReads) {
    LatencySnapshot now = reads.snapshot();
    if (now.since(beforeCurrent).count() >= minReads) {
      beforePrevious = beforeCurrent;
      beforeCurrent = now;
    }
  }

  /** Begins a window without one before. */
  public void restart() {
    beforeCurrent = reads.snapshot();
    beforePrevious = beforeCurrent;
  }
}
