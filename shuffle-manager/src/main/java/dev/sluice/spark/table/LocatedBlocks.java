// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Regions of an executor's blocks, and their lengths and checksums, in arrays of some 60 bytes a
 * block. A block that cannot be READ has the reason instead. {@link BlockLocator} makes it and
 * fills it, on a delivery thread or the caller's. The {@link #parts} share the arrays: one thread
 * at a time may use each, and only for its {@link #members}. Lengths, checksums and {@link
 * #isStaged(int)} exist only for filled blocks without {@link #failure}. After the filling only
 * {@link #leaveOut} changes it; call it before {@link #spans}, and use a span with the object that
 * made it.
 */
public final class LocatedBlocks {
  /** Maximum number of pieces that a peer stages for one request. */
  private static final int MAX_SPAN_BLOCKS = ControlMessages.MAX_PIECES;

  private final BlockList blocks;
  private final boolean verifiable;
  private final @Nullable PeerAddress peer;

  /** Location of each block's map output; null for one that is not located. */
  private final MapOutputLocation[] locations;

  /** Header of each block's map output; null until it was filled, and if that failed. */
  private final MapOutputHeader[] outputs;

  private final FallbackReason[] failures;

  /** Blocks that this object concerns; it ignores all others. */
  private final BitSet members = new BitSet();

  private final BitSet leftOut = new BitSet();

  /** Piece of a partition table that contains the block's entries. */
  private final TableSlice[] pieces;

  /** Position of each block in its data file, and its bytes. */
  private final long[] offsets;

  private final long[] lengths;

  /** Blocks [from, to); {@code bytes} is the total of those that are READ. */
  public record Span(int from, int to, int bytes) {}

  /**
   * @param verifiable true to have map outputs without checksums staged even if they are
   *     registered: the stager computes a checksum while it copies
   */
  LocatedBlocks(BlockList blocks, Located located, boolean verifiable) {
    this.blocks = blocks;
    this.verifiable = verifiable;
    this.peer = located.peer();
    this.locations = located.outputs();
    int size = blocks.size();
    this.outputs = new MapOutputHeader[size];
    this.failures = new FallbackReason[size];
    this.pieces = new TableSlice[size];
    this.offsets = new long[size];
    this.lengths = new long[size];
    members.set(0, size);
    for (int block = 0; block < size; block++) {
      failures[block] = unlocated(block);
    }
  }

  /** Creates an object for some of the blocks, which shares the arrays. */
  private LocatedBlocks(LocatedBlocks all, BitSet members) {
    blocks = all.blocks;
    verifiable = all.verifiable;
    peer = all.peer;
    locations = all.locations;
    outputs = all.outputs;
    failures = all.failures;
    pieces = all.pieces;
    offsets = all.offsets;
    lengths = all.lengths;
    this.members.or(members);
  }

  /**
   * Divides the blocks into parts that do not wait for each other. If the peer's process hangs,
   * registered tables can still be READ, but it does not answer questions for the other tables.
   */
  List<LocatedBlocks> parts() {
    BitSet asked = new BitSet();
    for (int block = nextMember(0); block >= 0; block = nextMember(block + 1)) {
      asked.set(block, hasTableToAskFor(block));
    }
    if (asked.isEmpty() || asked.equals(members)) {
      return List.of(this);
    }
    BitSet others = members();
    others.andNot(asked);
    return List.of(new LocatedBlocks(this, others), new LocatedBlocks(this, asked));
  }

  private boolean hasTableToAskFor(int block) {
    return failures[block] == null && !locations[block].segment().isRegistered();
  }

  private @Nullable FallbackReason unlocated(int block) {
    if (peer == null) {
      return FallbackReason.PEER;
    }
    MapOutputLocation location = locations[block];
    if (location == null) {
      return FallbackReason.NOT_REGISTERED;
    }
    boolean inTable = blocks.endPartition(block) <= location.segment().partitions();
    return inTable ? null : FallbackReason.STALE_LOCATION;
  }

  /** Returns the pieces of the peer's partition tables that are needed. */
  Collection<TableSlice> pieces() {
    Map<Object, TableSlice> wanted = new LinkedHashMap<>();
    TableSlice piece = null;
    for (int block = nextMember(0); block >= 0; block = nextMember(block + 1)) {
      if (failures[block] == null) {
        MapOutputLocation location = locations[block];
        if (piece == null || !piece.has(location)) {
          piece = wanted.computeIfAbsent(TableSlice.place(location), _ -> new TableSlice(location));
        }
        piece.want(location.slot(), blocks.startPartition(block), blocks.endPartition(block));
        pieces[block] = piece;
      }
    }
    return wanted.values();
  }

  /** Evaluates the {@link #pieces} after they were filled; returns this. */
  LocatedBlocks fill() {
    for (int block = nextMember(0); block >= 0; block = nextMember(block + 1)) {
      if (failures[block] == null) {
        failures[block] = fill(block);
      }
    }
    return this;
  }

  /** Returns the reason why the block cannot be READ; null if it can. */
  private @Nullable FallbackReason fill(int block) {
    TableSlice piece = pieces[block];
    if (piece.failure() != null) {
      return piece.failure();
    }
    int slot = locations[block].slot();
    outputs[block] = output(block, slot);
    if (outputs[block] == null) {
      return FallbackReason.STALE_LOCATION;
    }
    int start = blocks.startPartition(block);
    long end = piece.offset(slot, start);
    offsets[block] = end;
    for (int partition = start; partition < blocks.endPartition(block); partition++) {
      if (piece.offset(slot, partition) != end) {
        return FallbackReason.STALE_LOCATION; // These entries cannot belong to one table.
      }
      end += piece.length(slot, partition);
    }
    lengths[block] = end - offsets[block];
    if (end > outputs[block].data().length()) {
      return FallbackReason.STALE_LOCATION;
    }
    // Spark reports an empty block as an error, so its own transfer handles it.
    return lengths[block] > 0 ? null : FallbackReason.BLOCK_KIND;
  }

  /** Returns the header; the same object for blocks of the same map output. */
  private @Nullable MapOutputHeader output(int block, int slot) {
    return block > 0 && locations[block] == locations[block - 1] && outputs[block - 1] != null
        ? outputs[block - 1]
        : pieces[block].header(slot, locations[block].mapId());
  }

  private int nextMember(int from) {
    return members.nextSetBit(from);
  }

  public BlockList blocks() {
    return blocks;
  }

  /** Returns the blocks that this object concerns: all of them, or one part. */
  public BitSet members() {
    return (BitSet) members.clone();
  }

  /** Returns false if this process can READ from no peer; no block is READ then. */
  public boolean hasPeer() {
    return peer != null;
  }

  /** Returns the peer that serves the map outputs, where {@link #hasPeer there is one}. */
  public PeerAddress peer() {
    return requireNonNull(peer);
  }

  /** Returns the reason why the block cannot be READ; null if it can. */
  public @Nullable FallbackReason failure(int block) {
    return failures[block];
  }

  /** Excludes a block from the common READs, because the caller handles it otherwise. */
  public void leaveOut(int block) {
    leftOut.set(block);
  }

  /** Returns true if the block is READ together with the others. */
  public boolean isRead(int block) {
    return members.get(block) && failures[block] == null && !leftOut.get(block);
  }

  /** Returns the blocks of a span that are READ. */
  public BitSet read(Span span) {
    BitSet read = new BitSet();
    for (int block = span.from(); block < span.to(); block++) {
      read.set(block, isRead(block));
    }
    return read;
  }

  /** Returns true if the peer must stage the block's bytes before they can be READ. */
  public boolean isStaged(int block) {
    return outputs[block].isStaged() || (verifiable && !hasChecksums(block));
  }

  /** Returns true if Spark wrote checksums to compare the bytes with. */
  public boolean hasChecksums(int block) {
    return algorithm(block) != ChecksumAlgorithm.NONE;
  }

  public ChecksumAlgorithm algorithm(int block) {
    return outputs[block].checksumAlgorithm();
  }

  /** Returns the bytes of a block that has been found; may exceed 2 GiB. */
  public long length(int block) {
    return lengths[block];
  }

  /** Returns the number of partitions of a block. */
  public int partitions(int block) {
    return blocks.endPartition(block) - blocks.startPartition(block);
  }

  /** Returns the bytes of one partition of a block. */
  public long length(int block, int partition) {
    return pieces[block].length(locations[block].slot(), blocks.startPartition(block) + partition);
  }

  public long checksum(int block, int partition) {
    return pieces[block].checksum(
        locations[block].slot(), blocks.startPartition(block) + partition);
  }

  /** Returns {@code length} bytes of a block from {@code position} on. */
  public FileRange range(int block, long position, long length) {
    return new FileRange(outputs[block], isStaged(block), offsets[block] + position, length);
  }

  /**
   * Divides all blocks that are not left out into spans. A span has at most the given total and
   * staged bytes and 4,096 blocks, or it is a single block.
   *
   * @param apart true if registered blocks in a span must belong to one map output, so that a map
   *     output that cannot be READ fails no block of another
   */
  public List<Span> spans(int maxBytes, int maxStagedBytes, boolean apart) {
    List<Span> spans = new ArrayList<>();
    int from = 0;
    long bytes = 0;
    long stagedBytes = 0;
    for (int block = 0; block < blocks.size(); block++) {
      from = bytes == 0 ? block : from;
      long length = isRead(block) ? length(block) : 0;
      long stagedLength = length > 0 && isStaged(block) ? length : 0;
      boolean allStaged = stagedBytes + stagedLength == bytes + length;
      boolean fits =
          (!apart || allStaged || locations[block] == locations[from])
              && bytes + length <= maxBytes
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

  /** Returns a span of one block, which must not be left out. */
  public Span span(int block) {
    return new Span(block, block + 1, Math.toIntExact(length(block)));
  }

  /** Returns the end of each block of a span in a buffer with the blocks one after the other. */
  public int[] ends(Span span) {
    int[] ends = new int[span.to() - span.from()];
    int end = 0;
    for (int block = span.from(); block < span.to(); block++) {
      end += isRead(block) ? (int) length(block) : 0;
      ends[block - span.from()] = end;
    }
    return ends;
  }

  /** Returns the ranges of a span's blocks, in their order; adjoining blocks are one range. */
  public List<FileRange> ranges(Span span) {
    List<FileRange> ranges = new ArrayList<>();
    for (int block = span.from(); block < span.to(); block++) {
      if (isRead(block)) {
        FileRange.add(ranges, range(block, 0, length(block)));
      }
    }
    return ranges;
  }

  /** Returns true if the peer must stage some bytes of the span. */
  public boolean isStaged(Span span) {
    return stagedBytes(span) > 0;
  }

  /** Returns the bytes of the span that the peer must stage. */
  public long stagedBytes(Span span) {
    long bytes = 0;
    for (int block = span.from(); block < span.to(); block++) {
      bytes += isRead(block) && isStaged(block) ? length(block) : 0;
    }
    return bytes;
  }

  /** Returns the location of a block, which may be stale; null if there is none. */
  @Nullable MapOutputLocation location(int block) {
    return locations[block];
  }
}
