package dev.sluice.blocks;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Knows where a map output's files are; implemented over Spark's resolver, or over local dirs. */
public interface MapOutputFiles {
  /**
   * The files that Spark's index shuffle format consists of.
   *
   * @param data the partitions, back to back
   * @param index partitions + 1 big-endian longs: offsets in the data file
   * @param checksums one big-endian long a partition; null where none can be trusted
   * @param checksumAlgorithm what they are
   */
  record Files(Path data, Path index, Path checksums, ChecksumAlgorithm checksumAlgorithm) {}

  /** The files of a map output; null when there is none (any more). Any thread. */
  Files find(int shuffleId, long mapId) throws IOException;

  /**
   * Paths in all local directories that {@link #find} looks into, and that what it finds lies in:
   * one that does not answer holds up nothing of the others. Asks no disk. Any thread.
   */
  default List<Path> paths(int shuffleId, long mapId) {
    return List.of();
  }
}
