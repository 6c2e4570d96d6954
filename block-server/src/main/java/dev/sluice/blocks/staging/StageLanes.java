// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Numbers and limits of the lanes that staging requests are read in. A lane limits how many of its
 * requests are read at a time. A local directory has a hot lane for bytes in the page cache, and a
 * cold lane for bytes that only its disk has. Each {@link Stager} creates one. Immutable.
 *
 * <p>A cold request holds its memory for as long as the disk takes, so cold requests take half of
 * the memory at most. Directories share lanes where the memory is too small for two cold requests
 * of each, and where there are more than {@link #MAX_LANES}. The number of threads therefore does
 * not grow with the number of directories.
 */
final class StageLanes {
  /** Smallest limit of a lane. */
  private static final int READERS = 2;

  /** Largest number of hot lanes, and of cold lanes. */
  private static final int MAX_LANES = 16;

  private final int hot;
  private final int hotReaders;
  private final int cold;
  private final int coldReaders;
  private final int threads;

  /**
   * @param maxBytes all memory for staging
   * @param threads number of threads that keeps the disks of one directory busy
   */
  StageLanes(long maxBytes, int threads, int directories) {
    int half = Math.clamp(maxBytes / 2 / Stager.MAX_REQUEST_BYTES, READERS, Integer.MAX_VALUE);
    hot = Math.min(directories + 1, MAX_LANES); // One lane is for files outside of the directories.
    // With several directories, each leaves half of the memory to the others.
    int most = Math.clamp(threads / 2, READERS, half);
    hotReaders = directories < 2 ? threads : Math.clamp(READERS * MAX_LANES / hot, READERS, most);
    cold = Math.clamp(directories, 1, Math.min(half / READERS, MAX_LANES));
    coldReaders = Math.min(hotReaders, half / cold);
    this.threads = hotReaders * Math.clamp(directories, 1, hot) + coldReaders * cold;
  }

  /** Number of a directory's hot lane. */
  int hot(int directory) {
    return directory % hot;
  }

  /** Number of the cold lane that belongs to a hot lane. */
  int cold(int hotLane) {
    return hot + hotLane % cold;
  }

  /** Adds the hot lanes to which cold lanes among these belong. */
  void addHotOf(BitSet lanes) {
    for (int lane = 0; lane < hot; lane++) {
      if (lanes.get(cold(lane))) {
        lanes.set(lane);
      }
    }
  }

  /** Limits of all lanes by their numbers: two requests at a time or more. */
  int[] maxReaders() {
    int[] most = new int[hot + cold];
    Arrays.fill(most, 0, hot, hotReaders);
    Arrays.fill(most, hot, most.length, coldReaders);
    return most;
  }

  /** Number of threads: enough for all directories at the limits of their lanes, 64 at most. */
  int threads() {
    return threads;
  }
}
