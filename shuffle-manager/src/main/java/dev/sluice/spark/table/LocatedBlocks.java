// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Regions of an executor's blocks, and their lengths and checksums, in arrays of some 60 bytes a
 * block. A block that cannot be READ has the reason instead. {@link BlockLocator} makes it and
 * fills in the registered blocks, on a delivery thread or the caller's. The peer tells the lengths
 * of staged blocks when it stages them ({@link Span#take}); until then, they are estimates. After
 * it is located, each block has one user at a time: the thread that READs the {@link Span} with the
 * block, or the one that makes the spans. Parts of one large block may be READ by two threads,
 * which only set its failure.
 */
public final class LocatedBlocks {
  private final BlockList blocks;
  private final boolean verifiable;
  private final @Nullable PeerAddress peer;

  /** Location of each block's map output; null for one that is not located. */
  private final MapOutputLocation[] locations;

  /** Header of each block's map output; null until it was filled, and if that failed. */
  private final MapOutputHeader[] outputs;

  private final FallbackReason[] failures;
  private final boolean[] leftOut;

  /** Slice of registered tables with the block's entries; empty once these are known. */
  private TableSlice[] slices;

  /** Longs with the {@link TableEntry}s of the block's partitions. */
  private final long[][] entries;

  /** Index of the first of these entries, and longs from one of them to the next one. */
  private final int[] firstEntries;

  private final int[] strides;

  /** Position of each block in its data file, and its bytes. */
  private final long[] offsets;

  private final long[] lengths;

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
    this.leftOut = new boolean[size];
    this.slices = new TableSlice[size];
    this.entries = new long[size][];
    this.firstEntries = new int[size];
    this.strides = new int[size];
    this.offsets = new long[size];
    this.lengths = new long[size];
    for (int block = 0; block < size; block++) {
      failures[block] = unlocated(block);
    }
  }

  private @Nullable FallbackReason unlocated(int block) {
    if (peer == null) {
      return FallbackReason.PEER;
    }
    MapOutputLocation location = locations[block];
    if (location == null) {
      return FallbackReason.NOT_REGISTERED;
    }
    if (blocks.endPartition(block) > location.segment().partitions()) {
      return FallbackReason.STALE_LOCATION;
    }
    boolean isTooLong = partitions(block) > ControlMessages.MAX_ENTRIES_ALONE;
    return isTooLong && !location.segment().isRegistered() ? FallbackReason.STAGING : null;
  }

  /** Returns the slices of the peer's registered partition tables that are needed. */
  Collection<TableSlice> slices() {
    Map<Object, TableSlice> wanted = new LinkedHashMap<>();
    TableSlice slice = null;
    for (int block = 0; block < blocks.size(); block++) {
      MapOutputLocation location = locations[block];
      if (failures[block] == null && location.segment().isRegistered()) {
        if (slice == null || slice.segment() != location.segment()) {
          slice = wanted.computeIfAbsent(location.segment(), _ -> new TableSlice(location));
        }
        slice.want(location.slot(), blocks.startPartition(block), blocks.endPartition(block));
        slices[block] = slice;
      }
    }
    return wanted.values();
  }

  /** Evaluates the {@link #slices} after they were filled; returns this. */
  LocatedBlocks fill() {
    for (int block = 0; block < slices.length; block++) {
      if (slices[block] != null) {
        failures[block] = fill(block, slices[block]);
      }
    }
    slices = new TableSlice[0];
    return this;
  }

  /** Returns the reason why the block cannot be READ; null if it can. */
  private @Nullable FallbackReason fill(int block, TableSlice slice) {
    if (slice.failure() != null) {
      return slice.failure();
    }
    int slot = locations[block].slot();
    int start = blocks.startPartition(block);
    return evaluate(
        block, output(block, slot), slice.entries(start), slice.index(slot, start), slice.stride());
  }

  /**
   * Takes a block's header and entries. Returns as {@link #fill(int, TableSlice)} does.
   *
   * @param output null if the table does not belong to the block's map output
   * @param longs contains the entries
   * @param firstEntry index of the entry of the block's first partition
   * @param stride longs from one entry of the block to the next one
   */
  private @Nullable FallbackReason evaluate(
      int block, @Nullable MapOutputHeader output, long[] longs, int firstEntry, int stride) {
    outputs[block] = output;
    entries[block] = longs;
    firstEntries[block] = firstEntry;
    strides[block] = stride;
    if (output == null) {
      return FallbackReason.STALE_LOCATION;
    }
    long end = TableEntry.offset(longs[firstEntry]);
    offsets[block] = end;
    for (int partition = 0; partition < partitions(block); partition++) {
      if (TableEntry.offset(longs[entry(block, partition)]) != end) {
        return FallbackReason.STALE_LOCATION; // These entries cannot belong to one table.
      }
      end += length(block, partition);
    }
    lengths[block] = end - offsets[block];
    if (end > output.data().length()) {
      return FallbackReason.STALE_LOCATION;
    }
    // Spark reports an empty block as an error, so its own transfer handles it.
    return lengths[block] > 0 ? null : FallbackReason.BLOCK_KIND;
  }

  /** Returns the header; the same object for blocks of the same slice and map output. */
  private @Nullable MapOutputHeader output(int block, int slot) {
    return block > 0
            && slices[block] == slices[block - 1]
            && locations[block] == locations[block - 1]
            && outputs[block - 1] != null
        ? outputs[block - 1]
        : slices[block].header(slot, locations[block].mapId());
  }

  public BlockList blocks() {
    return blocks;
  }

  /** Returns false if this process can READ from no peer; no block is READ then. */
  public boolean hasPeer() {
    return peer != null;
  }

  /** Returns the peer that serves the map outputs, where {@link #hasPeer there is one}. */
  public PeerAddress peer() {
    return requireNonNull(peer);
  }

  /** Returns the reason why the block cannot be READ; null if it can, as far as is known. */
  public @Nullable FallbackReason failure(int block) {
    return failures[block];
  }

  /** Excludes a block from the common READs, because the caller handles it otherwise. */
  public void leaveOut(int block) {
    leftOut[block] = true;
  }

  boolean isLeftOut(int block) {
    return leftOut[block];
  }

  /** Returns true if the block is READ together with others. */
  boolean isRead(int block) {
    return failures[block] == null && !leftOut[block];
  }

  /** Returns true if the peer must stage the block's bytes before they can be READ. */
  public boolean isStaged(int block) {
    return !locations[block].segment().isRegistered() || (verifiable && !hasChecksums(block));
  }

  /** Returns true if length and checksums of the block are known. */
  public boolean isKnown(int block) {
    return outputs[block] != null;
  }

  /** Returns true if Spark wrote checksums to compare the bytes with. */
  public boolean hasChecksums(int block) {
    return algorithm(block) != ChecksumAlgorithm.NONE;
  }

  public ChecksumAlgorithm algorithm(int block) {
    return outputs[block].checksumAlgorithm();
  }

  /** Returns the bytes of a block that {@link #isKnown}; may exceed 2 GiB. */
  public long length(int block) {
    return lengths[block];
  }

  /** Returns the number of partitions of a block. */
  public int partitions(int block) {
    return blocks.endPartition(block) - blocks.startPartition(block);
  }

  /** Returns the bytes of one partition of a block. */
  public long length(int block, int partition) {
    int entry = entry(block, partition);
    return TableEntry.length(entries[block][entry], entries[block][entry + 1]);
  }

  public long checksum(int block, int partition) {
    return TableEntry.checksum(entries[block][entry(block, partition) + 1]);
  }

  private int entry(int block, int partition) {
    return firstEntries[block] + partition * strides[block];
  }

  /** Returns the block as a request to stage it names it. */
  Partitions wanted(int block) {
    int start = blocks.startPartition(block);
    return new Partitions(locations[block].mapId(), start, blocks.endPartition(block));
  }

  /** Takes lengths and checksums of a block, which fails if its peer cannot stage it. */
  void take(int block, long[] table) {
    int longs = MapOutputHeader.LONGS + partitions(block) * TableEntry.LONGS;
    if (table.length == Staged.STALE.length) {
      failures[block] = FallbackReason.STALE_LOCATION;
    } else if (isKnown(block) && Staged.isTable(table)) {
      failures[block] = isSame(block, table) ? null : FallbackReason.STALE_LOCATION;
    } else if (table.length != longs) {
      failures[block] = FallbackReason.STAGING;
    } else {
      MapOutputHeader output = MapOutputHeader.of(locations[block].mapId(), table, 0);
      failures[block] = evaluate(block, output, table, MapOutputHeader.LONGS, TableEntry.LONGS);
    }
  }

  /**
   * Returns true if a table describes the same bytes as the known one: all entries, or their sum.
   */
  private boolean isSame(int block, long[] table) {
    int entries = table.length - MapOutputHeader.LONGS;
    MapOutputHeader header =
        entries > 0 && entries % TableEntry.LONGS == 0
            ? MapOutputHeader.of(locations[block].mapId(), table, 0)
            : null;
    if (header == null
        || header.checksumAlgorithm() != algorithm(block)
        || header.data().length() != outputs[block].data().length()) {
      return false;
    }
    return TableEntry.offset(table[MapOutputHeader.LONGS]) == offsets[block]
        && TableEntry.bytes(table, MapOutputHeader.LONGS) == lengths[block];
  }

  /** Returns true if both blocks are known to belong to the same map output. */
  boolean areOfSameOutput(int block, int other) {
    return outputs[block] == outputs[other];
  }

  /** Returns the region of some bytes of a registered block. */
  RemoteRegion region(int block, long position, long length) {
    RemoteRegion data = outputs[block].data();
    return new RemoteRegion(data.address() + offsets[block] + position, length, data.rkey());
  }

  /** Returns the location of a block, which may be stale; null if there is none. */
  @Nullable MapOutputLocation location(int block) {
    return locations[block];
  }
}
