// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory. {@link SoftProtectionDomain} makes it; queue pairs of that domain read and
 * write its bytes. A view of them is valid only under the lock that {@link SoftRegion} names. The
 * caller that registers the memory owns it, and frees it only after the region is closed.
 */
final class SoftMemoryRegion extends SoftRegion {
  private final MemorySegment memory;

  /** All of the memory, as slicing it makes less garbage; null if it is too large for a buffer. */
  private final @Nullable ByteBuffer whole;

  SoftMemoryRegion(SoftProtectionDomain domain, MemorySegment memory, Set<AccessFlag> access) {
    super(domain, memory.address(), memory.byteSize(), access);
    this.memory = memory;
    whole = length() <= Integer.MAX_VALUE ? memory.asByteBuffer() : null;
  }

  /** A view of part of the memory. It must not be used after the current lock is released. */
  ByteBuffer slice(long from, int bytes) {
    long offset = from - address();
    return whole == null
        ? memory.asSlice(offset, bytes).asByteBuffer()
        : whole.slice((int) offset, bytes);
  }

  @Override
  int send(long from, int bytes, FrameBatch batch) {
    batch.add(slice(from, bytes), this);
    return bytes;
  }

  @Override
  ByteBuffer copy(long from, int bytes) {
    return ByteBuffer.allocate(bytes).put(slice(from, bytes)).flip();
  }
}
