// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.staging.Stager;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides partitions into pieces that fit into a buffer. Small ones are put together, in their
 * order; a large one becomes several pieces. Registered and staged ones are never in one piece. For
 * one thread.
 */
final class BatchPlan {
  /** A piece is no larger, so that the next one is READ while this one is copied. */
  static final int MAX_BYTES = Stager.MAX_REQUEST_BYTES;

  /**
   * Partitions to READ, back to back.
   *
   * @param position bytes of a single partition that are left out; 0 if there are several
   * @param bytes bytes of all, or of a part of a single one
   */
  record Piece(List<NodePartition> partitions, long position, int bytes) {
    boolean isStaged() {
      return partitions.getFirst().isStaged();
    }
  }

  private final List<NodePartition> partitions;
  private final int maxBytes;
  private int index;
  private long position;

  BatchPlan(List<NodePartition> partitions, int maxBufferBytes) {
    this.partitions = partitions;
    maxBytes = Math.min(MAX_BYTES, maxBufferBytes);
  }

  /** Returns the next piece; null if there is none. Partitions without bytes are left out. */
  @Nullable Piece next() {
    while (index < partitions.size() && partitions.get(index).bytes() == 0) {
      index++;
    }
    if (index == partitions.size()) {
      return null;
    }
    NodePartition first = partitions.get(index);
    if (position > 0 || first.bytes() > maxBytes) {
      return part(first);
    }
    List<NodePartition> together = new ArrayList<>();
    int bytes = 0;
    while (index < partitions.size() && fits(partitions.get(index), first, maxBytes - bytes)) {
      NodePartition next = partitions.get(index++);
      if (next.bytes() > 0) {
        together.add(next);
        bytes += (int) next.bytes();
      }
    }
    return new Piece(together, 0, bytes);
  }

  private static boolean fits(NodePartition next, NodePartition first, int room) {
    return next.bytes() <= room && next.isStaged() == first.isStaged();
  }

  private Piece part(NodePartition large) {
    long from = position;
    int bytes = (int) Math.min(maxBytes, large.bytes() - from);
    position += bytes;
    if (position == large.bytes()) {
      position = 0;
      index++;
    }
    return new Piece(List.of(large), from, bytes);
  }
}
