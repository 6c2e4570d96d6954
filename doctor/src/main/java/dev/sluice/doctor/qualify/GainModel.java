// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

/**
 * Estimates how much time of tasks Sluice saves in a stage. {@link Gain} calls it; it has no state.
 *
 * <p>The numbers are fitted to rows of docs/figures/results.json that compare Sluice with the stock
 * shuffle, half of the blocks remote, by the software provider on one machine of two cores:
 *
 * <ul>
 *   <li>Storms of 80,000 to 1,000,000 blocks of up to 1.2 KB save 20 to 23 us a block, of task time
 *       and of CPU time. With 10,000 blocks it is 34 us, with Java's serializer 52 to 57 us.
 *   <li>60 jobs of 256 blocks take 0.46 s of CPU time more, in the mean of ten pairs: 8 ms a job.
 *       Their blocks save 5 ms, so that a shuffle costs some 12 ms.
 *   <li>With blocks of 1 MiB, bytes decide, and their sign depends on the case: a GiB saves 0.31 s
 *       if map outputs are registered, and costs 0.27 s if they are staged. From disk it is 0.
 *   <li>A node's shuffle service takes 1.36 s of CPU time to serve 80,000 remote blocks.
 * </ul>
 */
final class GainModel {
  /** Saving by a block, which is a batch of blocks where Spark fetches batches. */
  static final double BLOCK_SECONDS = 21e-6;

  /** Cost of a shuffle, for its locations, registration and connections. */
  static final double SHUFFLE_SECONDS = 12e-3;

  /** Most that a GiB of blocks saves or costs. */
  static final double GIB_SECONDS = 0.31;

  /** CPU time of the process that serves a small remote block by the stock shuffle. */
  static final double SERVING_SECONDS = 17e-6;

  private static final double GIB = 1L << 30;

  private GainModel() {}

  /**
   * Range of a saving; a negative one is a cost.
   *
   * @param low the least, in seconds
   * @param high the most, in seconds
   */
  record Range(double low, double high) {
    static final Range NONE = new Range(0, 0);

    Range plus(Range other) {
      return new Range(low + other.low, high + other.high);
    }
  }

  /** Returns the saving of a stage that reads one shuffle. */
  static Range saving(long blocks, long bytes) {
    double byBlocks = blocks * BLOCK_SECONDS - SHUFFLE_SECONDS;
    double byBytes = bytes / GIB * GIB_SECONDS;
    return new Range(byBlocks - byBytes, byBlocks + byBytes);
  }

  /** Returns the CPU time for serving remote blocks by the stock shuffle. */
  static double servingSeconds(long remoteBlocks) {
    return remoteBlocks * SERVING_SECONDS;
  }
}
