package dev.sluice.spark.read;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.rdma.transfer.ReadRange;
import dev.sluice.spark.gather.BlockGroup;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.Checksum;

/**
 * Where the members of a {@link BlockGroup} are to be READ, and what their bytes must be: in
 * arrays, 40 bytes a member of one partition. A member that cannot be gathered is left to Spark and
 * has no bytes here. Filled by one thread at a time, then immutable.
 */
final class LocatedGroup {
  private final BlockGroup group;
  private final MapOutputLocation[] outputs;
  private final PageKey[] firstPages;
  private final ChecksumAlgorithm algorithm;
  private final long[] offsets;
  private final int[] lengths;
  private final int[] firstPartitions;
  private int[] partitionLengths;
  private long[] checksums;

  /**
   * @param outputs one a member; null where none can be READ
   */
  LocatedGroup(BlockGroup group, MapOutputLocation[] outputs) {
    this.group = group;
    this.outputs = outputs;
    this.firstPages = new PageKey[group.size()];
    this.algorithm = algorithm(outputs);
    this.offsets = new long[group.size()];
    this.lengths = new int[group.size()];
    this.firstPartitions = new int[group.size() + 1];
  }

  /** All map outputs of a shuffle have the same; NONE where they have no checksums. */
  private static ChecksumAlgorithm algorithm(MapOutputLocation[] outputs) {
    for (MapOutputLocation output : outputs) {
      if (output != null) {
        return output.checksumAlgorithm();
      }
    }
    return ChecksumAlgorithm.NONE;
  }

  /** The pages that are needed of the peer's partition tables. */
  Set<PageKey> pages() {
    Set<PageKey> pages = new LinkedHashSet<>();
    for (int member = 0; member < group.size(); member++) {
      MapOutputLocation output = outputs[member];
      if (output == null
          || algorithm == ChecksumAlgorithm.NONE
          || output.checksumAlgorithm() != algorithm
          || group.endPartition(member) > PageKey.partitions(output.table())) {
        continue;
      }
      int first = group.startPartition(member) / TablePage.PARTITIONS;
      int last = (group.endPartition(member) - 1) / TablePage.PARTITIONS;
      firstPages[member] = PageKey.of(group.shuffleId(), output, first);
      pages.add(firstPages[member]);
      for (int page = first + 1; page <= last; page++) {
        pages.add(PageKey.of(group.shuffleId(), output, page));
      }
    }
    return pages;
  }

  /**
   * Takes what the pages say.
   *
   * @param maxBytes of a member
   */
  void fill(TablePages pages, int maxBytes) {
    int partitions = 0;
    for (int member = 0; member < group.size(); member++) {
      partitions += group.endPartition(member) - group.startPartition(member);
    }
    partitionLengths = new int[partitions];
    checksums = new long[partitions];
    for (int member = 0; member < group.size(); member++) {
      firstPartitions[member + 1] = firstPartitions[member];
      if (firstPages[member] == null || !fill(member, pages, maxBytes)) {
        lengths[member] = 0;
        firstPartitions[member + 1] = firstPartitions[member];
        group.leave(member, member + 1);
      }
    }
  }

  private boolean fill(int member, TablePages pages, int maxBytes) {
    PageKey key = firstPages[member];
    TablePage page = pages.get(key);
    int at = firstPartitions[member];
    long length = 0;
    for (int partition = group.startPartition(member);
        partition < group.endPartition(member);
        partition++) {
      if (partition / TablePage.PARTITIONS != key.page()) {
        key = PageKey.of(group.shuffleId(), outputs[member], partition / TablePage.PARTITIONS);
        page = pages.get(key);
      }
      if (page == null) {
        return false;
      }
      int index = partition % TablePage.PARTITIONS;
      if (partition == group.startPartition(member)) {
        offsets[member] = page.offset(index);
      }
      long bytes = page.offset(index + 1) - page.offset(index);
      length += bytes;
      if (length > maxBytes) {
        return false;
      }
      partitionLengths[at] = (int) bytes;
      checksums[at++] = page.checksum(index);
    }
    lengths[member] = (int) length;
    firstPartitions[member + 1] = at;
    return length > 0 && offsets[member] + length <= outputs[member].data().length();
  }

  BlockGroup group() {
    return group;
  }

  /** Bytes of a member; 0 where it was left to Spark. */
  int length(int member) {
    return lengths[member];
  }

  /** Where the members from the first on end when they lie one after the other. */
  int[] ends(int from, int to) {
    int[] ends = new int[to - from];
    int end = 0;
    for (int member = from; member < to; member++) {
      end += lengths[member];
      ends[member - from] = end;
    }
    return ends;
  }

  /** What to READ to have members [from, to) one after the other; what adjoins is one range. */
  List<ReadRange> ranges(int from, int to) {
    List<ReadRange> ranges = new ArrayList<>(to - from);
    long address = 0;
    long length = 0;
    int rkey = 0;
    for (int member = from; member < to; member++) {
      if (lengths[member] == 0) {
        continue;
      }
      long start = outputs[member].data().address() + offsets[member];
      if (length > 0 && (start != address + length || outputs[member].data().rkey() != rkey)) {
        ranges.add(new ReadRange(address, length, rkey));
        length = 0;
      }
      if (length == 0) {
        address = start;
        rkey = outputs[member].data().rkey();
      }
      length += lengths[member];
    }
    ranges.add(new ReadRange(address, length, rkey));
    return ranges;
  }

  /** Where members [from, to) were thought to be. */
  List<MapOutputLocation> outputs(int from, int to) {
    List<MapOutputLocation> result = new ArrayList<>(to - from);
    for (int member = from; member < to; member++) {
      if (lengths[member] > 0) {
        result.add(outputs[member]);
      }
    }
    return result;
  }

  /** The first of the members [from, to) whose bytes are not what was written; -1 for none. */
  int firstMismatch(MemorySegment bytes, int from, int to) {
    Checksum checksum = algorithm.newChecksum();
    ByteBuffer buffer = bytes.asByteBuffer();
    int position = 0;
    for (int member = from; member < to; member++) {
      for (int i = firstPartitions[member]; i < firstPartitions[member + 1]; i++) {
        int end = position + partitionLengths[i];
        if (end > position) {
          checksum.reset();
          checksum.update(buffer.limit(end).position(position));
          if (checksum.getValue() != checksums[i]) {
            return member;
          }
        }
        position = end;
      }
    }
    return -1;
  }
}
