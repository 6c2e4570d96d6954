// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** A {@code struct ibv_recv_wr} as a driver reads it. */
record PostedRecv(long wrId, List<Sge> sgList) {
  static PostedRecv read(long pointer) {
    MemorySegment wr = FakeDevice.at(pointer, 32);
    return new PostedRecv(
        wr.get(JAVA_LONG, 0), Sge.read(wr.get(JAVA_LONG, 16), wr.get(JAVA_INT, 24)));
  }
}
