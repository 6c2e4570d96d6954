package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.AccessFlag;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;

/**
 * The ways in which peers may READ a data file's bytes. Which of them work depends on kernel,
 * device and file system: {@link FormProbe} tries them out.
 */
enum RegistrationForm {
  /** The file itself, where the device sends files: neither mapped nor pinned. */
  OPEN_FILE("open files", RegistryCounter.DIRECTORIES_OPEN_FILES),

  /** The file's pages in the page cache, pinned for reading. Kernels before 6.2 say EFAULT. */
  READ_ONLY_MAPPING("read-only mappings", RegistryCounter.DIRECTORIES_READ_ONLY),

  /**
   * The same, mapped for writing, as kernels before 6.2 want it: they pin pages for writing
   * whatever the access, and so each page is written back to disk once more. Nobody writes to it.
   */
  READ_WRITE_MAPPING("read-write mappings", RegistryCounter.DIRECTORIES_READ_WRITE),

  /**
   * The file's pages in the page cache, which the device faults in as it needs them. None is
   * pinned: the kernel takes clean pages back when it needs memory, as {@link ResidentPages} gives
   * them back when they are many, and the device asks for them again.
   */
  ON_DEMAND_MAPPING("read-only mappings on demand", RegistryCounter.DIRECTORIES_ON_DEMAND);

  private final String words;
  private final RegistryCounter directories;

  RegistrationForm(String words, RegistryCounter directories) {
    this.words = words;
    this.directories = directories;
  }

  /** Whether the file's bytes become memory. */
  boolean isMapping() {
    return this != OPEN_FILE;
  }

  /** What a registered file of so many bytes takes. */
  Cost cost(long bytes) {
    return switch (this) {
      case READ_ONLY_MAPPING, READ_WRITE_MAPPING -> Cost.region(bytes);
      case OPEN_FILE, ON_DEMAND_MAPPING -> Cost.NO_MEMORY;
    };
  }

  /** What the file is opened for; it is never created. */
  Set<OpenOption> openOptions() {
    return this == READ_WRITE_MAPPING
        ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
        : Set.of(StandardOpenOption.READ);
  }

  /**
   * Maps the file's first bytes for as long as the arena lives.
   *
   * @param bytes no more than the file has, or {@link MapMode#READ_WRITE} would make it longer
   */
  MemorySegment map(FileChannel file, long bytes, Arena arena) throws IOException {
    MapMode mode = this == READ_WRITE_MAPPING ? MapMode.READ_WRITE : MapMode.READ_ONLY;
    return file.map(mode, 0, bytes, arena);
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
    if (this == READ_WRITE_MAPPING) {
      counters.add(RegistryCounter.DIRTIED_BYTES, Cost.wholePages(bytes));
    }
  }

  @Override
  public String toString() {
    return words;
  }
}
