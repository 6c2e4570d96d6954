// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.leak.LeakTracker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory or a file registered with a {@link SoftProtectionDomain}, which creates it. Its bytes are
 * accessed only under the lock of a queue pair of its domain that has just looked it up. {@link
 * #close} removes it from the tables and then takes each of these locks once. Closed by its user or
 * its domain.
 */
abstract sealed class SoftRegion implements MemoryRegion permits SoftMemoryRegion, SoftFileRegion {
  private final SoftProtectionDomain domain;
  private final long address;
  private final long length;

  /** Bits of {@link AccessFlag#bit}. */
  private final int access;

  private final int lkey;
  private final int rkey;
  private final LeakTracker.Handle leak;
  private final AtomicBoolean closed = new AtomicBoolean();

  SoftRegion(SoftProtectionDomain domain, long address, long length, Set<AccessFlag> access) {
    this.domain = domain;
    this.address = address;
    this.length = length;
    this.access = AccessFlag.bits(access);
    lkey = domain.device().nextKey();
    rkey = domain.device().nextKey();
    leak = domain.leaks().opened("memory region", this);
  }

  /**
   * Adds some bytes of the region to the batch.
   *
   * @return number of bytes added; 0 if they have to be read from a disk first
   */
  abstract int send(long from, int bytes, FrameBatch batch) throws IOException;

  /** A copy of some bytes of the region. */
  abstract ByteBuffer copy(long from, int bytes) throws IOException;

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

  /** Returns false once the region is being closed. */
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

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      domain.deregister(this);
      release();
      leak.closed();
    }
  }

  /** Called when the region's bytes are not accessed any more. */
  void release() {}

  @Override
  public String toString() {
    return "[0x%x, %d bytes]".formatted(address, length);
  }

  /**
   * Generates keys of memory regions that look random and do not repeat. They are a permutation of
   * a counter under a secret of the device, so no key has to be remembered. A {@link SoftDevice}
   * has one and asks it for each region. Any thread, without a lock.
   */
  static final class KeySequence {
    private static final int ROUNDS = 6;

    private final AtomicInteger counter;
    private final int[] secrets;

    KeySequence(SecureRandom random) {
      counter = new AtomicInteger(random.nextInt());
      secrets = random.ints(ROUNDS).toArray();
    }

    int next() {
      return permute(counter.getAndIncrement());
    }

    /**
     * A Feistel network over two halves of 16 bits, which is a permutation for any round function.
     */
    private int permute(int number) {
      int left = number >>> 16;
      int right = number & 0xFFFF;
      for (int secret : secrets) {
        int mixed = (right ^ secret) * 0x9E3779B1;
        mixed = (mixed ^ (mixed >>> 15) ^ secret) * 0x85EBCA6B;
        int next = left ^ (mixed >>> 16);
        left = right;
        right = next;
      }
      return left << 16 | right;
    }
  }
}
