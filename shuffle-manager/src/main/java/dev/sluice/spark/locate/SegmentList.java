// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import java.util.Arrays;

/**
 * Segments by their numbers in a {@link LocationLog}, from 1 on, 20 bytes each. {@link
 * LocationReader} fills it. Not thread-safe, not even for reads: it remembers the last segment.
 */
final class SegmentList {
  /** Bits of the number of slots, which is 1 to 64. */
  private static final int SLOTS_BITS = 7;

  /** Numbers of executors are smaller than this. */
  static final int MAX_EXECUTORS = 1 << (Integer.SIZE - SLOTS_BITS);

  private long[] addresses = new long[1];

  /** Slots in the lowest bits, then the executor's number, then the rkey. */
  private long[] others = new long[1];

  private int[] partitions = new int[1];
  private int size;

  /** The last segment that was asked for, which callers mostly want again, and its number. */
  private TableSegment lastSegment;

  private int lastNumber;

  int size() {
    return size;
  }

  void add(int executor, TableSegment segment) {
    if (size == addresses.length) {
      resize(size + Math.max(16, size / 2));
    }
    RemoteRegion region = segment.region();
    addresses[size] = region.address();
    others[size] =
        (long) region.rkey() << Integer.SIZE
            | (long) executor << SLOTS_BITS
            | Integer.toUnsignedLong(segment.slots());
    partitions[size++] = (int) segment.partitions();
  }

  /** Frees spare capacity, when nothing is to be added for a while. */
  void trim() {
    resize(size);
  }

  private void resize(int length) {
    addresses = Arrays.copyOf(addresses, length);
    others = Arrays.copyOf(others, length);
    partitions = Arrays.copyOf(partitions, length);
  }

  /** Keeps only the first segments. */
  void truncate(int newSize) {
    size = newSize;
    lastNumber = 0;
  }

  int executor(int number) {
    return (int) others[number - 1] >>> SLOTS_BITS;
  }

  TableSegment segment(int number) {
    if (number != lastNumber) {
      lastSegment = make(number - 1);
      lastNumber = number;
    }
    return lastSegment;
  }

  private TableSegment make(int index) {
    int slots = (int) others[index] & (1 << SLOTS_BITS) - 1;
    long bytes = TableSegment.bytes(slots, partitions[index]);
    int rkey = (int) (others[index] >>> Integer.SIZE);
    return new TableSegment(new RemoteRegion(addresses[index], bytes, rkey), slots);
  }
}
