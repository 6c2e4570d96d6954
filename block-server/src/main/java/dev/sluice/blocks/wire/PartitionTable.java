package dev.sluice.blocks.wire;

/**
 * Layout of a map output's partition table in registered memory, as readers READ it: one entry a
 * partition and one more for the end of the last, each of two little-endian longs: the partition's
 * offset in the data file, and its checksum.
 */
public final class PartitionTable {
  /** Bytes of an entry. */
  public static final int ENTRY_BYTES = 2 * Long.BYTES;

  /** Offset of the checksum in an entry, in bytes. */
  public static final int CHECKSUM_OFFSET = Long.BYTES;

  private PartitionTable() {}
}
