// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Parameters of a measurement. The client sends them to the server, which needs no options. Both
 * sides must have the same format: change {@link #MAGIC} with it.
 *
 * @param test the command that measures
 * @param size bytes of a message
 * @param iters number of messages to measure; only an upper bound if there is a duration
 * @param warmUp number of messages before the measurement
 * @param durationSeconds 0 to count messages instead
 * @param depth number of posted work requests at a time
 * @param readsInFlight number of READs in flight at a time
 * @param mtu path MTU in bytes
 * @param events true if both sides sleep on completion events
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

  /** First bytes of the wire format. Other programs, and other versions of this one, differ. */
  private static final int MAGIC = 0x534c5631;

  /** The commands that measure. */
  enum Test {
    BW,
    LAT
  }

  /**
   * Returns the way to wait for completions. Bandwidth yields between polls, since requests are
   * queued; yielding would add to latency.
   */
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
   * @throws IOException if the peer is another command
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
      throw new IOException("the peer does not run the same command");
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

  /** Number of all messages: those of the warm-up and those to measure. */
  int total() {
    return warmUp + iters;
  }
}
