package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.MappedMemory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.Checksum;

/**
 * A map output that can be READ, from what is registered or, where that is the partition table
 * alone, staged. Some 1 KB of heap whatever the number of partitions: 100 KB an executor where
 * 1,000 executors hold 100,000 map outputs.
 *
 * @param header what peers READ
 * @param file the data file
 * @param data the registered data file; null where all partitions are empty or the data are staged
 * @param table the partition table, in {@code memory}
 * @param memory keeps data and table alive while they are read
 */
record RegisteredMapOutput(
    MapOutputHeader header, Path file, RegisteredData data, TableSlot table, ShuffleMemory memory) {

  /** What peers get. */
  MapOutputLocation location() {
    return new MapOutputLocation(header.mapId(), table.segment(), table.slot());
  }

  private boolean isMapped() {
    return data instanceof RegisteredData.Mapped;
  }

  /** Whether the data file has these bytes, and there are any. */
  boolean contains(long position, int length) {
    long end = header.data().length();
    return length > 0 && position >= 0 && position <= end - length;
  }

  /** Null when the partitions do not exist or the table is gone. Any thread. */
  MapOutputRegistry.Segment segment(int startPartition, int endPartition) {
    if (!hasPartitions(startPartition, endPartition) || !memory.retain()) {
      return null;
    }
    try {
      long start = table.offset(startPartition);
      return new MapOutputRegistry.Segment(file, start, end(endPartition) - start, isMapped());
    } finally {
      memory.release();
    }
  }

  /**
   * Opens partitions in their registered memory; null when they do not exist, are empty or are not
   * mapped. Any thread; whoever gets the stream closes it.
   */
  RegisteredInputStream open(int startPartition, int endPartition) {
    if (!isMapped() || !hasPartitions(startPartition, endPartition) || !memory.retain()) {
      return null;
    }
    long start = table.offset(startPartition);
    long end = end(endPartition);
    if (start == end) {
      memory.release();
      return null;
    }
    return new RegisteredInputStream(this, start, end);
  }

  /**
   * Copies partitions out of what is registered, or the file, and verifies them, as {@link
   * MapOutputReader#copy} says. Any thread.
   *
   * @param checksum of the map output's algorithm
   * @throws InternalError when the file under a mapping has become shorter, or its disk fails
   * @throws IOException when a file that is not mapped is shorter or gone, or its disk fails
   */
  int copy(int startPartition, int endPartition, byte[] target, int offset, Checksum checksum)
      throws IOException {
    if (!hasPartitions(startPartition, endPartition) || !memory.retain()) {
      return MapOutputReader.UNREADABLE;
    }
    try {
      long start = table.offset(startPartition);
      long length = end(endPartition) - start;
      if (length > target.length - offset) {
        return length > target.length ? MapOutputReader.UNREADABLE : MapOutputReader.NO_ROOM;
      }
      if (data == null) {
        read(start, target, offset, (int) length);
      } else {
        data.copy(start, target, offset, (int) length);
      }
      if (matches(startPartition, endPartition, target, offset, checksum)) {
        return (int) length;
      }
      MappedMemory.awaitFault(); // Only here: what a fault has left does not match.
      return MapOutputReader.UNREADABLE;
    } finally {
      memory.release();
    }
  }

  /**
   * Opened by each task for itself, and not a channel: where a thread that reads one is
   * interrupted, as a task that is killed, it is closed for all, and whoever interrupts waits for
   * their reads.
   */
  private void read(long position, byte[] target, int offset, int length) throws IOException {
    try (RandomAccessFile data = new RandomAccessFile(file.toFile(), "r")) {
      data.seek(position);
      data.readFully(target, offset, length);
    }
  }

  /**
   * Copies bytes of the data file, which is mapped. The caller has a reference to the memory.
   *
   * @throws InternalError when the file has become shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException {
    data.copy(position, target, offset, length);
    MappedMemory.awaitFault();
  }

  /** Where the partitions before this one end. The caller has a reference to the memory. */
  private long end(int endPartition) {
    return table.offset(endPartition - 1) + table.length(endPartition - 1);
  }

  /**
   * @throws IOException when the data file is shorter than so many bytes
   */
  void checkLength(long bytes) throws IOException {
    try {
      if (Files.size(file) < bytes) {
        throw new IOException(this + " has been truncated");
      }
    } catch (NoSuchFileException _) {
      // Nobody truncates a file that has no name any more.
    }
  }

  private boolean matches(
      int startPartition, int endPartition, byte[] bytes, int offset, Checksum checksum) {
    int position = offset;
    for (int partition = startPartition; partition < endPartition; partition++) {
      int length = (int) table.length(partition);
      if (length > 0) {
        checksum.reset();
        checksum.update(bytes, position, length);
        if (checksum.getValue() != table.checksum(partition)) {
          return false;
        }
      }
      position += length;
    }
    return true;
  }

  private boolean hasPartitions(int startPartition, int endPartition) {
    return startPartition >= 0
        && endPartition > startPartition
        && endPartition <= table.partitions();
  }

  /** No peer READs the data once this has returned. Idempotent. With the shuffle's lock. */
  void deregister() {
    table.clear();
    if (data != null) {
      data.close();
    }
  }

  /** A registration is itself: another one of the same map output may be of another file. */
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
    return "map output " + header.mapId() + " in " + file;
  }
}
