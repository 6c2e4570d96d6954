// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.rdma.AccessFlag;
import java.util.EnumSet;
import java.util.Set;

/**
 * Forms in which a data file is registered, so that peers can READ it. Kernel, device and file
 * system decide which of them work: {@link RegistrationProbe} tries them out, and {@link DataFile}
 * carries one out.
 */
public enum RegistrationMethod {
  /** The file itself, neither mapped nor pinned, if the device sends files. */
  OPEN_FILE("open files", RegistryCounter.DIRECTORIES_OPEN_FILES),

  /**
   * The file's pages in the page cache, pinned for reading. Kernels before 6.2 pin pages for
   * writing whatever the access, and answer EFAULT.
   */
  READ_ONLY_MAPPING("read-only mappings", RegistryCounter.DIRECTORIES_READ_ONLY),

  /**
   * The file's pages in the page cache, which the device faults in as it needs them. None is
   * pinned: the kernel reclaims clean pages when it needs memory, and {@code ResidentPages} gives
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

  /**
   * Returns the form of a mode.
   *
   * @param sendsFiles true if the device sends open files, which then need not be mapped
   */
  public static RegistrationMethod of(RegistrationMode mode, boolean sendsFiles) {
    return switch (mode) {
      case AUTO -> sendsFiles ? OPEN_FILE : READ_ONLY_MAPPING;
      case ODP -> ON_DEMAND_MAPPING;
    };
  }

  /** Returns true if the file is mapped to memory. */
  public boolean isMapping() {
    return this != OPEN_FILE;
  }

  /** Returns the cost of a registered file of this length. */
  public Cost cost(long bytes) {
    return switch (this) {
      case READ_ONLY_MAPPING -> Cost.region(bytes);
      case OPEN_FILE, ON_DEMAND_MAPPING -> Cost.NO_MEMORY;
    };
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

  @Override
  public String toString() {
    return words;
  }
}
