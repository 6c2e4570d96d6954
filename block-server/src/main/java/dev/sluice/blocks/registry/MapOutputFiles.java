// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds a map output's files: by Spark's resolver in an executor; in a node daemon, in the
 * application's folders or among the files of a MapReduce job. {@link PendingRegistration} calls
 * {@link #find} on a thread that may wait for a disk. An executor's hand-over and a node's {@code
 * NodeBlockResolver} call it on their own threads. The {@link RegistrationQueue} calls {@link
 * #paths} on any thread, before it queues the work.
 */
public interface MapOutputFiles {
  /**
   * Files of a map output.
   *
   * @param data the partitions, back to back
   * @param index their places in the data file
   * @param checksums one big-endian long a partition; null if none can be trusted
   * @param checksumAlgorithm algorithm of the checksums
   * @param format format of the index
   * @param guard opens the files
   */
  record Files(
      Path data,
      Path index,
      @Nullable Path checksums,
      ChecksumAlgorithm checksumAlgorithm,
      IndexFormat format,
      FileGuard guard) {
    /** Files that Spark has written, in directories of this process's user. */
    public Files(
        Path data, Path index, @Nullable Path checksums, ChecksumAlgorithm checksumAlgorithm) {
      this(data, index, checksums, checksumAlgorithm, IndexFormat.SPARK, FileGuard.NONE);
    }
  }

  /** Returns the files of a map output; null if there is none (any more). Any thread. */
  @Nullable Files find(int shuffleId, long mapId) throws IOException;

  /**
   * Returns paths in every local directory that {@link #find} may touch; empty if they are unknown.
   * The registry chooses a thread by them, so that a disk that hangs delays no map output on other
   * disks. Reads no disk. Any thread.
   */
  default List<Path> paths(int shuffleId, long mapId) {
    return List.of();
  }

  /**
   * Returns how many map outputs with the same directories in their {@link #paths} may be opened at
   * the same time. More than 1 if paths name directories that {@link #find} leaves out while their
   * disks hang.
   */
  default int together() {
    return 1;
  }
}
