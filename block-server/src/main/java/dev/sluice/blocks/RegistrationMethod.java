// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.transfer.Counters;
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
 * Forms in which a data file is registered, so that peers can READ it. Kernel, device and file
 * system decide which of them work: {@link RegistrationProbe} tries them out.
 */
enum RegistrationMethod {
  /** The file itself, neither mapped nor pinned, if the device sends files. */
  OPEN_FILE("open files", RegistryCounter.DIRECTORIES_OPEN_FILES),

  /** The file's pages in the page cache, pinned for reading. Kernels before 6.2 answer EFAULT. */
  READ_ONLY_MAPPING("read-only mappings", RegistryCounter.DIRECTORIES_READ_ONLY),

  /**
   * The same pages, mapped for writing, as kernels before 6.2 require. These pin pages for writing
   * whatever the access, so each page is written back to disk once more. No code writes to them.
   */
  READ_WRITE_MAPPING("read-write mappings", RegistryCounter.DIRECTORIES_READ_WRITE),

  /**
   * The file's pages in the page cache, which the device faults in as it needs them. None is
   * pinned: the kernel reclaims clean pages when it needs memory, and {@link ResidentPages} gives
   * them back when there are too many. The device then asks for them again.
   */
  ON_DEMAND_MAPPING(
      "read-only mappings with on-demand paging", RegistryCounter.DIRECTORIES_ON_DEMAND);

  private final String words;
  private final RegistryCounter directories;

  RegistrationMethod(String words, RegistryCounter directories) {
    this.words = words;
    this.directories = directories;
  }

  /** Returns true if the file is mapped to memory. */
  boolean isMapping() {
    return this != OPEN_FILE;
  }

  /** Returns the cost of a registered file of this length. */
  Cost cost(long bytes) {
    return switch (this) {
      case READ_ONLY_MAPPING, READ_WRITE_MAPPING -> Cost.region(bytes);
      case OPEN_FILE, ON_DEMAND_MAPPING -> Cost.NO_MEMORY;
    };
  }

  /** Returns the options for opening the file, which is never created. */
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

  /** Returns rights to read and no more: no peer and no device can change a map output. */
  Set<AccessFlag> access() {
    return this == ON_DEMAND_MAPPING
        ? EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.REMOTE_READ);
  }

  /** Returns the counter of the local directories that have this form. */
  RegistryCounter directories() {
    return directories;
  }

  /** Counts the pages that registering a file of this length dirties, if any. */
  void countBytes(Counters<RegistryCounter> counters, long bytes) {
    if (this == READ_WRITE_MAPPING) {
      counters.add(RegistryCounter.DIRTIED_BYTES, Cost.wholePages(bytes));
    }
  }

  @Override
  public String toString() {
    return words;
  }
}
