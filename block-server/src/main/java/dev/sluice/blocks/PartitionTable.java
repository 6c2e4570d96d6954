package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Where the partitions of a map output begin in its data file, and what they are. Any thread. */
sealed interface PartitionTable permits TableSlot, IndexTable {
  /** What peers are told. */
  MapOutputLocation location(long mapId);

  int partitions();

  /**
   * The {@link TableEntry}s of partitions [start, end), which there are. The caller has {@linkplain
   * #retain retained} it.
   */
  long[] entries(int start, int end) throws IOException;

  /** The same, of what is in memory; null where a file would have to be read. Never blocks. */
  long[] known(int start, int end);

  /** The files that {@link #entries} reads; none where it is in memory. */
  default List<Path> files() {
    return List.of();
  }

  /** Keeps the memory that it lies in until {@link #release}; false when that is gone. */
  default boolean retain() {
    return true;
  }

  default void release() {}

  /** The map output is gone. */
  default void clear() {}
}
