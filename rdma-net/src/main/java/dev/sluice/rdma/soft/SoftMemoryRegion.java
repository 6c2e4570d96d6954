package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.leak.LeakTracker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Registered memory of the software provider. Its memory is touched only under the lock of a queue
 * pair of its domain that has just looked it up; {@link #close} takes it out of the tables and then
 * visits each of those locks once. Closed by whoever registered it, or by its domain.
 */
final class SoftMemoryRegion implements MemoryRegion {
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final SoftProtectionDomain domain;
  private final MemorySegment memory;
  private final long address;
  private final long length;

  /** All of the memory, from which pieces are cut with less garbage; null where it is too large. */
  private final ByteBuffer whole;

  /** {@link AccessFlag#bit}s. */
  private final int access;

  private final int lkey;
  private final int rkey;
  private final LeakTracker.Handle leak;
  private final AtomicBoolean closed = new AtomicBoolean();

  SoftMemoryRegion(
      SoftProtectionDomain domain,
      MemorySegment memory,
      Set<AccessFlag> access,
      int lkey,
      int rkey,
      LeakTracker leaks) {
    this.domain = domain;
    this.memory = memory;
    this.access = AccessFlag.bits(access);
    address = memory.address();
    length = memory.byteSize();
    whole = length <= Integer.MAX_VALUE ? memory.asByteBuffer() : null;
    this.lkey = lkey;
    this.rkey = rkey;
    this.leak = leaks.opened("memory region", this);
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  SoftProtectionDomain domain() {
    return domain;
  }

  /** False once the region is being closed. */
  boolean isOpen() {
    return !closed.get();
  }

  boolean allows(AccessFlag flag) {
    return (access & flag.bit()) != 0;
  }

  boolean contains(long from, long bytes) {
    long offset = from - address;
    return offset >= 0 && bytes >= 0 && offset <= length && bytes <= length - offset;
  }

  /** A view of part of the memory, which must be used up under the lock that it was made under. */
  ByteBuffer slice(long from, int bytes) {
    long offset = from - address;
    return whole == null
        ? memory.asSlice(offset, bytes).asByteBuffer()
        : whole.slice((int) offset, bytes);
  }

  long compareAndSwap(long address, long expected, long value) {
    return (long) LONG.compareAndExchange(memory, address - address(), expected, value);
  }

  long fetchAndAdd(long address, long value) {
    return (long) LONG.getAndAdd(memory, address - address(), value);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      domain.deregister(this);
      leak.closed();
    }
  }

  @Override
  public String toString() {
    return "[0x%x, %d bytes]".formatted(address(), length());
  }
}
