package dev.sluice.rdma.verbs.ibv;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * A piece of registered memory, outside of work requests: {@code struct ibv_sge}.
 *
 * @param length bytes
 */
public record IbvSge(long address, int length, int lkey) {
  /** As an array of {@code struct ibv_sge}. */
  static MemorySegment write(SegmentAllocator allocator, IbvSge... entries) {
    long size = IbvStructs.SGE.size();
    MemorySegment array = allocator.allocate(size * entries.length, Long.BYTES);
    for (int i = 0; i < entries.length; i++) {
      MemorySegment struct = array.asSlice(i * size, size);
      IbvStructs.SGE.set(struct, "addr", entries[i].address);
      IbvStructs.SGE.set(struct, "length", entries[i].length);
      IbvStructs.SGE.set(struct, "lkey", entries[i].lkey);
    }
    return array;
  }

  /** Without the key. */
  @Override
  public String toString() {
    return length + " bytes at 0x" + Long.toHexString(address);
  }
}
