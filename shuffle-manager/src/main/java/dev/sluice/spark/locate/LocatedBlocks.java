package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Where blocks of an executor are to be READ, and what their bytes must be: in arrays, 40 bytes a
 * block of one partition. A block that cannot be READ has the reason instead. Filled by one thread
 * at a time.
 */
public final class LocatedBlocks {
  /** A peer is asked to stage so many pieces at most. */
  private static final int MAX_SPAN_BLOCKS = ControlMessages.MAX_PIECES;

  private final BlockList blocks;
  private final boolean verifiable;
  private final PeerAddress peer;
  private final MapOutputLocation[] outputs;
  private final FallbackReason[] failures;
  private final BitSet leftOut = new BitSet();

  /** The first partition of each block among those of all, and their number. */
  private final int[] firstPartitions;

  /** Where the partitions of each block begin in the data file, and where its last one ends. */
  private long[] offsets;

  private long[] checksums;

  /** Blocks [from, to), of which those that are READ have so many bytes. */
  public record Span(int from, int to, int bytes) {}

  /**
   * @param verifiable whether what has no checksums is staged even where it is registered: who
   *     copies it takes one
   */
  LocatedBlocks(BlockList blocks, Located located, boolean verifiable) {
    this.blocks = blocks;
    this.verifiable = verifiable;
    this.peer = located.peer();
    this.outputs = located.outputs();
    this.failures = new FallbackReason[blocks.size()];
    this.firstPartitions = new int[blocks.size() + 1];
    for (int block = 0; block < blocks.size(); block++) {
      failures[block] = unlocated(block);
    }
  }

  private FallbackReason unlocated(int block) {
    if (peer == null) {
      return FallbackReason.PEER;
    }
    MapOutputLocation output = outputs[block];
    if (output == null) {
      return FallbackReason.NOT_REGISTERED;
    }
    boolean inTable = blocks.endPartition(block) <= PageKey.partitions(output.table());
    return inTable ? null : FallbackReason.STALE_LOCATION;
  }

  /** The pages that are needed of the peer's partition tables. */
  Set<PageKey> pages() {
    Set<PageKey> pages = new LinkedHashSet<>();
    for (int block = 0; block < blocks.size(); block++) {
      if (failures[block] != null) {
        continue;
      }
      int last = (blocks.endPartition(block) - 1) / TablePage.PARTITIONS;
      for (int page = blocks.startPartition(block) / TablePage.PARTITIONS; page <= last; page++) {
        pages.add(PageKey.of(blocks.shuffleId(), outputs[block], page));
      }
    }
    return pages;
  }

  /** Takes what the pages say; this. */
  LocatedBlocks fill(TablePages pages) {
    int size = blocks.size();
    for (int block = 0; block < size; block++) {
      int partitions = blocks.endPartition(block) - blocks.startPartition(block);
      firstPartitions[block + 1] =
          firstPartitions[block] + (failures[block] == null ? partitions : 0);
    }
    offsets = new long[firstPartitions[size] + size];
    checksums = new long[firstPartitions[size]];
    for (int block = 0; block < size; block++) {
      if (failures[block] == null) {
        failures[block] = fill(block, pages);
      }
    }
    return this;
  }

  /** Why the block cannot be READ; null where it can. */
  private FallbackReason fill(int block, TablePages pages) {
    int start = blocks.startPartition(block);
    PageKey key = null;
    TablePage page = null;
    for (int partition = start; partition < blocks.endPartition(block); partition++) {
      int number = partition / TablePage.PARTITIONS;
      if (key == null || key.page() != number) {
        key = PageKey.of(blocks.shuffleId(), outputs[block], number);
        page = pages.get(key);
        if (page == null) {
          return pages.failure(key);
        }
        if (partition > start
            && page.offset(0) < offsets[firstPartitions[block] + block + partition - start]) {
          return FallbackReason.STALE_LOCATION; // As within a page: these cannot be one table's.
        }
      }
      int index = partition % TablePage.PARTITIONS;
      int i = firstPartitions[block] + partition - start;
      offsets[i + block] = page.offset(index);
      offsets[i + block + 1] = page.offset(index + 1);
      checksums[i] = page.checksum(index);
    }
    if (offset(block) + length(block) > outputs[block].data().length()) {
      return FallbackReason.STALE_LOCATION;
    }
    // An empty block is an error to Spark, which is then to be Spark's own.
    return length(block) > 0 ? null : FallbackReason.BLOCK_KIND;
  }

  public BlockList blocks() {
    return blocks;
  }

  /** Null where the executor has none. */
  public PeerAddress peer() {
    return peer;
  }

  /** Why the block cannot be READ; null where it can. */
  public FallbackReason failure(int block) {
    return failures[block];
  }

  /** Whoever calls this does something else about the block than READing it with the others. */
  public void leaveOut(int block) {
    leftOut.set(block);
  }

  /** Whether the block is READ with the others. */
  public boolean isRead(int block) {
    return failures[block] == null && !leftOut.get(block);
  }

  /** Whether the peer has to be asked for its bytes before they can be READ. */
  public boolean isStaged(int block) {
    return outputs[block].isStaged() || (verifiable && !hasChecksums(block));
  }

  /** Whether Spark has something to compare its bytes with. */
  public boolean hasChecksums(int block) {
    return algorithm(block) != ChecksumAlgorithm.NONE;
  }

  public ChecksumAlgorithm algorithm(int block) {
    return outputs[block].checksumAlgorithm();
  }

  /** Where the block begins in its map output. */
  private long offset(int block) {
    return offsets[firstPartitions[block] + block];
  }

  /** Bytes of a block that has been found; may exceed 2 GiB. */
  public long length(int block) {
    return offsets[firstPartitions[block + 1] + block] - offset(block);
  }

  /** Partitions of a block. */
  public int partitions(int block) {
    return firstPartitions[block + 1] - firstPartitions[block];
  }

  /** Bytes of one partition of a block. */
  public long length(int block, int partition) {
    int i = firstPartitions[block] + block + partition;
    return offsets[i + 1] - offsets[i];
  }

  public long checksum(int block, int partition) {
    return checksums[firstPartitions[block] + partition];
  }

  /** A block's bytes from {@code position} on. */
  public Extent extent(int block, long position, long length) {
    return new Extent(outputs[block], isStaged(block), offset(block) + position, length);
  }

  /**
   * All that is not left out, in spans of so many bytes, of which so many are staged, and of 4,096
   * blocks; or of one block.
   */
  public List<Span> spans(int maxBytes, int maxStagedBytes) {
    List<Span> spans = new ArrayList<>();
    int from = 0;
    long bytes = 0;
    long stagedBytes = 0;
    for (int block = 0; block < blocks.size(); block++) {
      from = bytes == 0 ? block : from;
      long length = isRead(block) ? length(block) : 0;
      long stagedLength = length > 0 && isStaged(block) ? length : 0;
      boolean fits =
          bytes + length <= maxBytes
              && stagedBytes + stagedLength <= maxStagedBytes
              && block - from < MAX_SPAN_BLOCKS;
      if (bytes > 0 && !fits) {
        spans.add(new Span(from, block, Math.toIntExact(bytes)));
        from = block;
        bytes = 0;
        stagedBytes = 0;
      }
      bytes += length;
      stagedBytes += stagedLength;
    }
    if (bytes > 0) {
      spans.add(new Span(from, blocks.size(), Math.toIntExact(bytes)));
    }
    return spans;
  }

  /** One block alone, which was not left out. */
  public Span span(int block) {
    return new Span(block, block + 1, Math.toIntExact(length(block)));
  }

  /** Where the blocks of a span end when they lie one after the other. */
  public int[] ends(Span span) {
    int[] ends = new int[span.to() - span.from()];
    int end = 0;
    for (int block = span.from(); block < span.to(); block++) {
      end += isRead(block) ? (int) length(block) : 0;
      ends[block - span.from()] = end;
    }
    return ends;
  }

  /** What to READ to have the blocks of a span one after the other; what adjoins is one extent. */
  public List<Extent> extents(Span span) {
    return Extent.join(
        IntStream.range(span.from(), span.to())
            .filter(this::isRead)
            .mapToObj(block -> extent(block, 0, length(block))));
  }

  /** Whether the peer has to be asked for some bytes of the span. */
  public boolean isStaged(Span span) {
    return IntStream.range(span.from(), span.to())
        .anyMatch(block -> isRead(block) && isStaged(block));
  }

  /** Where a block was thought to be; null where that was not known. */
  MapOutputLocation output(int block) {
    return outputs[block];
  }
}
