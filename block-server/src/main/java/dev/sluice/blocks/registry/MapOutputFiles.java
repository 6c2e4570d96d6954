// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds a map output's files: by Spark's resolver in an executor, or in the application's folders
 * in a node daemon. {@link PendingRegistration} calls {@link #find} on a thread that may wait for a
 * disk. An executor's hand-over and a node's {@code NodeBlockResolver} call it on their own
 * threads. The {@link RegistrationQueue} calls {@link #paths} on any thread, before it queues the
 * work.
 */
public interface MapOutputFiles {
  /**
   * Files of Spark's index shuffle format.
   *
   * @param data the partitions, back to back
   * @param index partitions + 1 big-endian longs: offsets in the data file
   * @param checksums one big-endian long a partition; null if none can be trusted
   * @param checksumAlgorithm algorithm of the checksums
   */
  record Files(
      Path data, Path index, @Nullable Path checksums, ChecksumAlgorithm checksumAlgorithm) {}

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
}
