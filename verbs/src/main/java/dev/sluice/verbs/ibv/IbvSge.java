// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A piece of registered memory, outside of work request lists: {@code struct ibv_sge}.
 *
 * @param length bytes
 */
public record IbvSge(long address, int length, int lkey) {
  /**
   * Returns an entry for a whole segment.
   *
   * @param memory that stays reachable until the entry has been posted
   * @param mr region of the segment; null for inline data
   * @throws IllegalArgumentException for memory of the Java heap, also as inline data
   */
  public static IbvSge of(MemorySegment memory, @Nullable IbvMr mr) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException("memory of the Java heap has no address for C");
    }
    int length = Math.toIntExact(memory.byteSize());
    return new IbvSge(memory.address(), length, mr == null ? 0 : mr.lkey());
  }

  /** Omits the key. */
  @Override
  public String toString() {
    return length + " bytes at 0x" + Long.toHexString(address);
  }
}
