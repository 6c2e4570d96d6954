package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;

/** Registered memory. */
final class SoftMemoryRegion extends SoftRegion {
  private final MemorySegment memory;

  /** All of the memory, from which pieces are cut with less garbage; null where it is too large. */
  private final ByteBuffer whole;

  SoftMemoryRegion(SoftProtectionDomain domain, MemorySegment memory, Set<AccessFlag> access) {
    super(domain, memory.address(), memory.byteSize(), access);
    this.memory = memory;
    whole = length() <= Integer.MAX_VALUE ? memory.asByteBuffer() : null;
  }

  /** A view of part of the memory, which must be used up under the lock that it was made under. */
  ByteBuffer slice(long from, int bytes) {
    long offset = from - address();
    return whole == null
        ? memory.asSlice(offset, bytes).asByteBuffer()
        : whole.slice((int) offset, bytes);
  }

  @Override
  void send(long from, int bytes, FrameBatch batch) {
    batch.add(slice(from, bytes), this);
  }

  @Override
  ByteBuffer copy(long from, int bytes) {
    return ByteBuffer.allocate(bytes).put(slice(from, bytes)).flip();
  }
}
