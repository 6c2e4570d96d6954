// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A {@code struct ibv_sge} as a driver reads it. */
record Sge(long addr, int length, int lkey) {
  private static final int SIZE = 16;

  static List<Sge> read(long list, int count) {
    MemorySegment memory = FakeDevice.at(list, count * SIZE);
    List<Sge> entries = new ArrayList<>();
    for (long at = 0; at < count * SIZE; at += SIZE) {
      entries.add(
          new Sge(
              memory.get(JAVA_LONG, at),
              memory.get(JAVA_INT, at + 8),
              memory.get(JAVA_INT, at + 12)));
    }
    return entries;
  }
}
