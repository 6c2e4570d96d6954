// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.MapOutputData;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.MappedMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * A map output that peers can READ, or that only this process reads. Its data and its table are
 * registered, or neither is and it is staged. One whose partitions are all empty has no data to
 * register, only a table. {@link ShuffleOutputs} creates and deregisters it with its lock held,
 * unless only this process reads it; any thread gets it there and reads it.
 *
 * <p>A method that reads data or table retains the table first: their memory may be unmapped
 * otherwise. Takes some 1 KB of heap whatever the number of partitions: 100 KB an executor if 1,000
 * executors hold 100,000 map outputs.
 *
 * @param served true if peers may READ it here; false if only this process reads it, from its
 *     files, until a peer asks for it
 * @param header header of the partition table, which peers READ or are told
 */
public record MapOutput(
    boolean served,
    MapOutputHeader header,
    MapOutputFiles.Files files,
    LocalDirectories.Disks disks,
    MapOutputData data,
    PartitionTable table) {

  /** Returns the data file. */
  public Path file() {
    return files.data();
  }

  /** Returns the location that peers are told. */
  MapOutputLocation location() {
    return table.location(header.mapId());
  }

  private boolean isMapped() {
    return data instanceof MapOutputData.Mapped;
  }

  /**
   * Returns the {@link TableEntry}s of partitions [start, end). Any thread; never blocks.
   *
   * @return null if that takes reading a file, the partitions do not exist or the table is gone
   */
  public long @Nullable [] knownEntries(int startPartition, int endPartition) {
    if (!hasPartitions(startPartition, endPartition) || !table.retain()) {
      return null;
    }
    try {
      return table.known(startPartition, endPartition);
    } finally {
      table.release();
    }
  }

  /**
   * Returns a reading of the same entries from files; null if the partitions do not exist, or the
   * table was in memory and is gone. Never blocks.
   */
  public @Nullable TableReading reading(int startPartition, int endPartition) {
    return hasPartitions(startPartition, endPartition)
        ? table.reading(startPartition, endPartition)
        : null;
  }

  /**
   * Returns the file range of the partitions. Any thread; may wait for a disk.
   *
   * @return null if the partitions do not exist or the table is gone
   * @throws InconsistentFilesException if the index file is gone or has changed
   * @throws IOException if it cannot be read
   */
  MapOutputRegistry.@Nullable Segment segment(int startPartition, int endPartition)
      throws IOException {
    if (!hasPartitions(startPartition, endPartition) || !table.retain()) {
      return null;
    }
    try {
      long start = TableEntry.offset(table.entries(startPartition, startPartition + 1)[0]);
      long end = TableEntry.end(table.entries(endPartition - 1, endPartition));
      return new MapOutputRegistry.Segment(file(), start, end - start, isMapped());
    } finally {
      table.release();
    }
  }

  /**
   * Opens partitions in their registered memory. Any thread; the caller closes the stream.
   *
   * @return null if the partitions do not exist, are empty or are not mapped
   */
  @Nullable RegisteredInputStream open(int startPartition, int endPartition) {
    if (!isMapped()
        || !(table instanceof TableSlot slot)
        || !hasPartitions(startPartition, endPartition)
        || !slot.retain()) {
      return null;
    }
    long start = TableEntry.offset(slot.entries(startPartition, startPartition + 1)[0]);
    long end = TableEntry.end(slot.entries(endPartition - 1, endPartition));
    if (start == end) {
      table.release();
      return null;
    }
    return new RegisteredInputStream(this, start, end);
  }

  /**
   * Copies partitions from registered memory or from the file and verifies them, as {@link
   * MapOutputReader#copy} says. Any thread.
   *
   * @param checksum calculates the map output's algorithm
   * @throws InternalError if the file under a mapping has become shorter, or its disk fails
   * @throws IOException if a file that is not mapped is shorter or gone, or its disk fails
   */
  int copy(int startPartition, int endPartition, byte[] target, int offset, Checksum checksum)
      throws IOException {
    if (!hasPartitions(startPartition, endPartition) || !table.retain()) {
      return MapOutputReader.UNREADABLE;
    }
    try {
      long[] entries = table.entries(startPartition, endPartition);
      long start = TableEntry.offset(entries[0]);
      long length = TableEntry.bytes(entries, 0);
      if (length > target.length - offset) {
        return length > target.length ? MapOutputReader.UNREADABLE : MapOutputReader.NO_ROOM;
      }
      data.copy(start, target, offset, (int) length);
      if (matches(entries, target, offset, (int) length, checksum)) {
        return (int) length;
      }
      MappedMemory.awaitFault(); // Only here: bytes that a fault left behind do not match.
      return MapOutputReader.UNREADABLE;
    } finally {
      table.release();
    }
  }

  /**
   * Copies bytes of the mapped data file. The caller holds a reference to the table.
   *
   * @throws InternalError if the file has become shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException {
    data.copy(position, target, offset, length);
    MappedMemory.awaitFault();
  }

  /**
   * Removes its pages from this process's resident memory until their next use. Pinned ones stay.
   *
   * @return true if it is mapped
   */
  boolean giveBackPages() {
    if (!(data instanceof MapOutputData.Mapped mapped) || !table.retain()) {
      return false;
    }
    try {
      mapped.bytes().unload(); // madvise(MADV_DONTNEED): the memory must stay mapped
      return true;
    } finally {
      table.release();
    }
  }

  /**
   * @throws IOException if the data file is shorter than {@code bytes}
   */
  void checkLength(long bytes) throws IOException {
    try {
      if (Files.size(file()) < bytes) {
        throw new IOException(this + " has been truncated");
      }
    } catch (NoSuchFileException _) {
      // A file that has no name any more is not truncated.
    }
  }

  private static boolean matches(
      long[] entries, byte[] bytes, int offset, int total, Checksum checksum) {
    int position = 0;
    for (int i = 0; i < entries.length; i += 2) {
      long length = TableEntry.length(entries[i], entries[i + 1]);
      if (length > total - position) {
        return false;
      }
      if (length > 0) {
        checksum.reset();
        checksum.update(bytes, offset + position, (int) length);
        if (checksum.getValue() != TableEntry.checksum(entries[i + 1])) {
          return false;
        }
      }
      position += (int) length;
    }
    return true;
  }

  private boolean hasPartitions(int startPartition, int endPartition) {
    return startPartition >= 0
        && endPartition > startPartition
        && endPartition <= table.partitions();
  }

  /** No peer READs the data once this has returned. Idempotent. With the shuffle's lock held. */
  void deregister() {
    table.clear();
    data.close();
  }

  /** Compares by identity: another registration of the same map output may be of another file. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return "map output " + header.mapId() + " in " + file();
  }

  /**
   * Offsets, lengths and checksums of the partitions of a map output. Any thread. {@link MapOutput}
   * calls {@link #entries} and {@link #known} between {@link #retain} and {@link #release}. A table
   * in files has no memory to retain.
   */
  sealed interface PartitionTable permits TableSlot, IndexTable {
    /** Returns the location that peers are told. */
    MapOutputLocation location(long mapId);

    int partitions();

    /**
     * Returns the {@link TableEntry}s of partitions [start, end), which must exist. The caller has
     * {@linkplain #retain retained} the table.
     */
    long[] entries(int start, int end) throws IOException;

    /** Returns the same entries, or null if that takes reading a file. Never blocks. */
    long @Nullable [] known(int start, int end);

    /** Returns a reading of the same entries from files; null if the table is in memory. */
    default @Nullable TableReading reading(int start, int end) {
      return null;
    }

    /** Returns the files that {@link #entries} reads; none if the table is in memory. */
    default List<Path> files() {
      return List.of();
    }

    /** Keeps the memory of the table until {@link #release}; false if it is gone already. */
    default boolean retain() {
      return true;
    }

    default void release() {}

    /** Marks the map output as gone. */
    default void clear() {}
  }
}
