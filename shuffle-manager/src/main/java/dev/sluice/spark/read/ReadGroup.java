package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.ReadRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Blocks that are READ with one request into one buffer, back to back in the order of the list.
 *
 * @param ranges what to READ: blocks that adjoin in their map output are one range
 * @param bytes of all blocks
 */
record ReadGroup(List<LocatedBlock> blocks, List<ReadRange> ranges, int bytes) {
  private static final Comparator<LocatedBlock> BY_PLACE =
      Comparator.<LocatedBlock>comparingLong(located -> located.block().mapId())
          .thenComparingLong(LocatedBlock::offset);

  /** Groups blocks, none longer than an int, up to so many bytes; a longer block is alone. */
  static List<ReadGroup> plan(List<LocatedBlock> blocks, int maxGroupBytes) {
    List<ReadGroup> groups = new ArrayList<>();
    List<LocatedBlock> group = new ArrayList<>();
    long bytes = 0;
    for (LocatedBlock located : blocks.stream().sorted(BY_PLACE).toList()) {
      if (!group.isEmpty() && bytes + located.length() > maxGroupBytes) {
        groups.add(of(group));
        group = new ArrayList<>();
        bytes = 0;
      }
      group.add(located);
      bytes += located.length();
    }
    if (!group.isEmpty()) {
      groups.add(of(group));
    }
    return groups;
  }

  /** A group of blocks in this order. */
  static ReadGroup of(List<LocatedBlock> blocks) {
    List<ReadRange> ranges = new ArrayList<>();
    long address = 0;
    long length = 0;
    int rkey = 0;
    int bytes = 0;
    for (LocatedBlock located : blocks) {
      if (length > 0 && located.address() == address + length && located.dataKey() == rkey) {
        length += located.length();
      } else {
        if (length > 0) {
          ranges.add(new ReadRange(address, length, rkey));
        }
        address = located.address();
        length = located.length();
        rkey = located.dataKey();
      }
      bytes = Math.addExact(bytes, Math.toIntExact(located.length()));
    }
    ranges.add(new ReadRange(address, length, rkey));
    return new ReadGroup(blocks, ranges, bytes);
  }
}
