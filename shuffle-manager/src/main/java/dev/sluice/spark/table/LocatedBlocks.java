package dev.sluice.spark.table;

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

/**
 * Where blocks of an executor are to be READ, and what their bytes must be: in arrays, some 60
 * bytes a block. A block that cannot be READ has the reason instead. Each of the {@link #parts} is
 * filled by one thread at a time.
 */
public final class LocatedBlocks {
  /** A peer is asked to stage so many pieces at most. */
  private static final int MAX_SPAN_BLOCKS = ControlMessages.MAX_PIECES;

  private final BlockList blocks;
  private final boolean verifiable;
  private final PeerAddress peer;
  private final MapOutputLocation[] locations;
  private final MapOutputHeader[] outputs;
  private final FallbackReason[] failures;

  /** What this is about; of the others nothing is said. */
  private final BitSet members = new BitSet();

  private final BitSet leftOut = new BitSet();

  /** The part of a partition table that each block is in. */
  private final TablePiece[] pieces;

  /** Where each block begins in its data file, and its bytes. */
  private final long[] offsets;

  private final long[] lengths;

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
    this.locations = located.outputs();
    int size = blocks.size();
    this.outputs = new MapOutputHeader[size];
    this.failures = new FallbackReason[size];
    this.pieces = new TablePiece[size];
    this.offsets = new long[size];
    this.lengths = new long[size];
    members.set(0, size);
    for (int block = 0; block < size; block++) {
      failures[block] = unlocated(block);
    }
  }

  /** Some of the blocks, in the same arrays. */
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
   * What does not wait for one another: of a peer whose process stands still tables can be READ,
   * and it says nothing of those that are not registered.
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

  private FallbackReason unlocated(int block) {
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

  /** What is needed of the peer's partition tables. */
  Collection<TablePiece> pieces() {
    Map<Object, TablePiece> wanted = new LinkedHashMap<>();
    TablePiece piece = null;
    for (int block = nextMember(0); block >= 0; block = nextMember(block + 1)) {
      if (failures[block] == null) {
        MapOutputLocation location = locations[block];
        if (piece == null || !piece.has(location)) {
          piece = wanted.computeIfAbsent(TablePiece.place(location), _ -> new TablePiece(location));
        }
        piece.want(location.slot(), blocks.startPartition(block), blocks.endPartition(block));
        pieces[block] = piece;
      }
    }
    return wanted.values();
  }

  /** Takes what was READ of the {@link #pieces}; this. */
  LocatedBlocks fill() {
    for (int block = nextMember(0); block >= 0; block = nextMember(block + 1)) {
      if (failures[block] == null) {
        failures[block] = fill(block);
      }
    }
    return this;
  }

  /** Why the block cannot be READ; null where it can. */
  private FallbackReason fill(int block) {
    TablePiece piece = pieces[block];
    if (piece.failure() != null) {
      return piece.failure();
    }
    int slot = locations[block].slot();
    outputs[block] = output(block, slot);
    if (outputs[block] == null) {
      return FallbackReason.STALE_LOCATION;
    }
    int start = blocks.startPartition(block);
    long end = offsets[block] = piece.offset(slot, start);
    for (int partition = start; partition < blocks.endPartition(block); partition++) {
      if (piece.offset(slot, partition) != end) {
        return FallbackReason.STALE_LOCATION; // These cannot be one table's.
      }
      end += piece.length(slot, partition);
    }
    lengths[block] = end - offsets[block];
    if (end > outputs[block].data().length()) {
      return FallbackReason.STALE_LOCATION;
    }
    // An empty block is an error to Spark, which is then to be Spark's own.
    return lengths[block] > 0 ? null : FallbackReason.BLOCK_KIND;
  }

  /** The same one for blocks of the same map output. */
  private MapOutputHeader output(int block, int slot) {
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

  /** The blocks that this is about: all of them, or those that were found together. */
  public BitSet members() {
    return (BitSet) members.clone();
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
    return members.get(block) && failures[block] == null && !leftOut.get(block);
  }

  /** The blocks of a span that are READ. */
  public BitSet read(Span span) {
    BitSet read = new BitSet();
    for (int block = span.from(); block < span.to(); block++) {
      read.set(block, isRead(block));
    }
    return read;
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

  /** Bytes of a block that has been found; may exceed 2 GiB. */
  public long length(int block) {
    return lengths[block];
  }

  /** Partitions of a block. */
  public int partitions(int block) {
    return blocks.endPartition(block) - blocks.startPartition(block);
  }

  /** Bytes of one partition of a block. */
  public long length(int block, int partition) {
    return pieces[block].length(locations[block].slot(), blocks.startPartition(block) + partition);
  }

  public long checksum(int block, int partition) {
    return pieces[block].checksum(
        locations[block].slot(), blocks.startPartition(block) + partition);
  }

  /** A block's bytes from {@code position} on. */
  public Extent extent(int block, long position, long length) {
    return new Extent(outputs[block], isStaged(block), offsets[block] + position, length);
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
    List<Extent> extents = new ArrayList<>();
    for (int block = span.from(); block < span.to(); block++) {
      if (isRead(block)) {
        Extent.add(extents, extent(block, 0, length(block)));
      }
    }
    return extents;
  }

  /** Whether the peer has to be asked for some bytes of the span. */
  public boolean isStaged(Span span) {
    return stagedBytes(span) > 0;
  }

  /** Bytes of the span that the peer has to be asked for. */
  public long stagedBytes(Span span) {
    long bytes = 0;
    for (int block = span.from(); block < span.to(); block++) {
      bytes += isRead(block) && isStaged(block) ? length(block) : 0;
    }
    return bytes;
  }

  /** Where a block was thought to be; null where that was not known. */
  MapOutputLocation location(int block) {
    return locations[block];
  }
}
