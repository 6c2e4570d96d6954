package dev.sluice.blocks.server;

import java.util.Arrays;

/**
 * What is read for so many requests at a time, by number: of each local directory what the page
 * cache has, and apart from that what its disk alone has. Requests for the latter hold memory as
 * long as a disk takes, and so half of it at most, whatever the number of directories: where that
 * is not enough for two requests of each, several directories are one lane. Immutable.
 */
final class StageLanes {
  private static final int READERS = 2;

  private final int hot;
  private final int hotReaders;
  private final int cold;
  private final int coldReaders;

  /**
   * @param maxBytes of all memory
   * @param threads enough for a directory's disks
   */
  StageLanes(long maxBytes, int threads, int directories) {
    int half = Math.clamp(maxBytes / 2 / Stager.MAX_REQUEST_BYTES, READERS, Integer.MAX_VALUE);
    hot = directories + 1; // One is for what lies in none of them.
    // Where there are several, one leaves half of the memory to the others.
    hotReaders = directories < 2 ? threads : Math.clamp(threads / 2, READERS, half);
    cold = Math.clamp(directories, 1, half / READERS);
    coldReaders = Math.min(hotReaders, half / cold);
  }

  /** The one for what a directory's disk alone has, by that for the rest. */
  int cold(int lane) {
    return hot + lane % cold;
  }

  /** Requests that each is read for at a time: two or more. */
  int[] maxReaders() {
    int[] most = new int[hot + cold];
    Arrays.fill(most, 0, hot, hotReaders);
    Arrays.fill(most, hot, most.length, coldReaders);
    return most;
  }

  /** Enough for all to be read. */
  int threads() {
    return hotReaders * Math.max(1, hot - 1) + coldReaders * cold;
  }
}
