package dev.sluice.rdma.soft;

/** How long a sender waits for a receiver that is not ready (IBTA specification, table 46). */
final class RnrTimer {
  static final int CODES = 32;
  private static final int UNIT_NANOS = 10_000;

  /** By code, in units of 10 microseconds. */
  private static final int[] UNITS = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
  };

  private RnrTimer() {}

  static long nanos(int code) {
    return (long) UNITS[code & (CODES - 1)] * UNIT_NANOS;
  }
}
