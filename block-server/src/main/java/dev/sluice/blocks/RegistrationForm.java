package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.AccessFlag;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;

/**
 * The ways in which a data file's bytes become memory that a device may READ. Which of them work
 * depends on kernel, device and file system: {@link FormProbe} tries them out.
 */
enum RegistrationForm {
  /** The file's pages in the page cache, pinned for reading. Kernels before 6.2 say EFAULT. */
  READ_ONLY_MAPPING("read-only mappings", RegistryCounter.DIRECTORIES_READ_ONLY),

  /**
   * The same, mapped for writing, as kernels before 6.2 want it: they pin pages for writing
   * whatever the access, and so each page is written back to disk once more. Nobody writes to it.
   */
  READ_WRITE_MAPPING("read-write mappings", RegistryCounter.DIRECTORIES_READ_WRITE),

  /** A copy in memory of this process's own. Works everywhere. */
  COPY("copies in memory", RegistryCounter.DIRECTORIES_COPIED),

  /** The file's pages in the page cache, which the device faults in as it needs them. */
  ON_DEMAND_MAPPING("read-only mappings on demand", RegistryCounter.DIRECTORIES_ON_DEMAND);

  private static final long COPY_CHUNK_BYTES = 16 << 20;

  private final String words;
  private final RegistryCounter directories;

  RegistrationForm(String words, RegistryCounter directories) {
    this.words = words;
    this.directories = directories;
  }

  /** What the file is opened for; it is never created. */
  Set<OpenOption> openOptions() {
    return this == READ_WRITE_MAPPING
        ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
        : Set.of(StandardOpenOption.READ);
  }

  /**
   * Memory for the file's first bytes, which lives as long as the arena: a mapping, or what {@link
   * #fill} copies them to, in pages of its own, as pinning and unpinning concerns whole ones.
   *
   * @param bytes no more than the file has, or {@link MapMode#READ_WRITE} would make it longer
   */
  MemorySegment allocate(FileChannel file, long bytes, Arena arena) throws IOException {
    return switch (this) {
      case READ_ONLY_MAPPING, ON_DEMAND_MAPPING -> file.map(MapMode.READ_ONLY, 0, bytes, arena);
      case READ_WRITE_MAPPING -> file.map(MapMode.READ_WRITE, 0, bytes, arena);
      case COPY -> arena.allocate(Cost.wholePages(bytes), Cost.PAGE_BYTES).asSlice(0, bytes);
    };
  }

  /** What such memory costs as long as it is not registered. */
  Cost allocatedCost(long bytes) {
    return this == COPY ? Cost.region(bytes) : Cost.MAPPING;
  }

  /** Has the file's first bytes in the memory. */
  void fill(MemorySegment memory, FileChannel file) throws IOException {
    if (this != COPY) {
      return;
    }
    long bytes = memory.byteSize();
    long copied = 0;
    while (copied < bytes) {
      ByteBuffer chunk =
          memory.asSlice(copied, Math.min(COPY_CHUNK_BYTES, bytes - copied)).asByteBuffer();
      int read = file.read(chunk, copied);
      if (read < 0) {
        throw new EOFException("the file ends at " + copied + " of " + bytes + " bytes");
      }
      copied += read;
    }
  }

  /** Never more than reading: a peer cannot change a map output, nor can the device. */
  Set<AccessFlag> access() {
    return this == ON_DEMAND_MAPPING
        ? EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.REMOTE_READ);
  }

  /** Counts the local directories that have this form. */
  RegistryCounter directories() {
    return directories;
  }

  /** Counts what registering a file of so many bytes cost beside the registration. */
  void countBytes(RegistryCounters counters, long bytes) {
    switch (this) {
      case READ_WRITE_MAPPING ->
          counters.add(RegistryCounter.DIRTIED_BYTES, Cost.wholePages(bytes));
      case COPY -> counters.add(RegistryCounter.COPIED_BYTES, bytes);
      case READ_ONLY_MAPPING, ON_DEMAND_MAPPING -> {}
    }
  }

  @Override
  public String toString() {
    return words;
  }
}
