// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

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
  long[] known(int start, int end);

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
