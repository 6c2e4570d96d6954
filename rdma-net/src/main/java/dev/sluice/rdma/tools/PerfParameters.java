package dev.sluice.rdma.tools;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the client tells the server before a measurement: the server needs no options of its own.
 *
 * @param test which of the two commands
 * @param size bytes of a message
 * @param iters messages that are measured; with a duration only a bound
 * @param warmUp messages before the first that is measured
 * @param durationSeconds 0 to count messages instead
 * @param depth work requests that are posted at a time
 * @param readsInFlight READs that are under way at a time
 * @param mtu of the path, bytes
 * @param events whether both sides sleep on completion events
 */
record PerfParameters(
    Test test,
    PerfOperation operation,
    int size,
    int iters,
    int warmUp,
    int durationSeconds,
    int depth,
    int readsInFlight,
    int mtu,
    boolean events) {

  /** Bytes of {@link #toWire}. */
  static final int WIRE_LENGTH = 11 * Integer.BYTES;

  private static final int DEFAULT_DEPTH = 128;

  /** First of the bytes: tells other programs, and other versions of this one. */
  private static final int MAGIC = 0x534c5631;

  /** Of READs as they come, with what the port can do. */
  static PerfParameters ofReads(Test test, int size, int iters, boolean events, LocalPort port)
      throws IOException {
    return new PerfParameters(
        test,
        PerfOperation.READ,
        size,
        iters,
        iters,
        0,
        DEFAULT_DEPTH,
        port.maxReadsInFlight(),
        port.activeMtu().bytes(),
        events);
  }

  /** The commands that measure. */
  enum Test {
    BW,
    LAT
  }

  /** The bandwidth's poller has requests queued while it yields; latency is what yielding costs. */
  CompletionMode completionMode() {
    if (events) {
      return CompletionMode.EVENTS;
    }
    return test == Test.BW ? CompletionMode.YIELD : CompletionMode.SPIN;
  }

  byte[] toWire() {
    return ByteBuffer.allocate(WIRE_LENGTH)
        .putInt(MAGIC)
        .putInt(test.ordinal())
        .putInt(operation.ordinal())
        .putInt(size)
        .putInt(iters)
        .putInt(warmUp)
        .putInt(durationSeconds)
        .putInt(depth)
        .putInt(readsInFlight)
        .putInt(mtu)
        .putInt(events ? 1 : 0)
        .array();
  }

  /**
   * @throws IOException for a peer that is not the same command
   */
  static PerfParameters fromWire(byte[] bytes, Test expected) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int magic = in.getInt();
    int test = in.getInt();
    int operation = in.getInt();
    if (magic != MAGIC
        || test != expected.ordinal()
        || operation < 0
        || operation >= PerfOperation.values().length) {
      throw new IOException("the peer is not the same command as this");
    }
    return new PerfParameters(
        expected,
        PerfOperation.values()[operation],
        in.getInt(),
        in.getInt(),
        in.getInt(),
        in.getInt(),
        in.getInt(),
        in.getInt(),
        in.getInt(),
        in.getInt() != 0);
  }

  /** Messages with those that warm up. */
  int total() {
    return warmUp + iters;
  }
}
