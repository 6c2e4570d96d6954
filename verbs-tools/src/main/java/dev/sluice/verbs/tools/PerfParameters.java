// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvSendWrList;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Parameters of a measurement. The client's {@link PerfCommand} makes them of its options and sends
 * them to the server, which ignores its own. Both sides must have the same format: change {@link
 * #MAGIC} with it. Immutable.
 *
 * @param test the command that measures
 * @param size bytes of a message
 * @param iters number of messages to measure; bw ignores it if there is a duration
 * @param warmUp number of messages before the measurement
 * @param depth limit of outstanding work requests
 * @param readsInFlight limit of outstanding READs and atomics
 * @param mtu path MTU in bytes
 * @param events true if both sides sleep on completion events
 */
record PerfParameters(
    Test test,
    Operation operation,
    int size,
    int iters,
    int warmUp,
    int depth,
    int readsInFlight,
    int mtu,
    boolean events) {

  /** Bytes of {@link #toWire}. */
  static final int WIRE_LENGTH = 10 * Integer.BYTES;

  /** First bytes of the wire format. Other programs, and other versions of this one, differ. */
  private static final int MAGIC = 0x534c5632;

  /** The commands that measure. Their order is on the wire. */
  enum Test {
    BW,
    LAT
  }

  /** Operations to measure. Their order is on the wire. */
  enum Operation {
    READ(IbvSendWrList.Opcode.RDMA_READ),
    WRITE(IbvSendWrList.Opcode.RDMA_WRITE),
    SEND(IbvSendWrList.Opcode.SEND),
    FETCH_ADD(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD),
    CMP_SWAP(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP);

    /** Bytes of an atomic's operand. */
    static final int ATOMIC_BYTES = Long.BYTES;

    final IbvSendWrList.Opcode opcode;

    Operation(IbvSendWrList.Opcode opcode) {
      this.opcode = opcode;
    }

    boolean isAtomic() {
      return this == FETCH_ADD || this == CMP_SWAP;
    }

    /** True if data come from the server, which takes no part in the operation. */
    boolean fetches() {
      return this == READ || isAtomic();
    }
  }

  /** Returns the numbers in network byte order: {@link #MAGIC}, then the record's components. */
  byte[] toWire() {
    int[] numbers = {
      MAGIC,
      test.ordinal(),
      operation.ordinal(),
      size,
      iters,
      warmUp,
      depth,
      readsInFlight,
      mtu,
      events ? 1 : 0
    };
    ByteBuffer wire = ByteBuffer.allocate(WIRE_LENGTH);
    wire.asIntBuffer().put(numbers);
    return wire.array();
  }

  /** Throws an IOException if the peer is another command, program or version. */
  static PerfParameters fromWire(byte[] bytes, Test expected) throws IOException {
    Operation[] operations = Operation.values();
    int[] in = new int[WIRE_LENGTH / Integer.BYTES];
    ByteBuffer.wrap(bytes).asIntBuffer().get(in);
    if (in[0] != MAGIC || in[1] != expected.ordinal() || in[2] < 0 || in[2] >= operations.length) {
      throw new IOException("the peer does not run the same command");
    }
    return new PerfParameters(
        expected, operations[in[2]], in[3], in[4], in[5], in[6], in[7], in[8], in[9] != 0);
  }

  /** Number of all messages: those of the warm-up and those to measure. */
  int total() {
    return warmUp + iters;
  }
}
