// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.registry.MapOutputFiles;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Folder into which an executor puts map outputs for the node daemon, before it tells the daemon of
 * each. A daemon of the executor's user gives its own {@link ApplicationFolder}, one of another
 * user an {@link Inbox}. Any thread.
 */
sealed interface HandOverFolder permits ApplicationFolder, Inbox {
  Path path();

  /**
   * Links the data file of a map output into the folder, and copies its index and checksums, which
   * take at most 16 bytes a partition.
   *
   * @return false if it is known that the daemon has it already
   * @throws FileSystemException if this folder cannot take it, for example because it is on another
   *     file system (EXDEV) or full
   */
  boolean commit(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException;

  /** Removes a map output if it is here. */
  void remove(int shuffleId, long mapId) throws IOException;

  /**
   * Removes a map output after a failure, which stays the reason that is reported.
   *
   * @param failure gets that of the removal as a suppressed one
   */
  default void removeAfter(Throwable failure, int shuffleId, long mapId) {
    try {
      remove(shuffleId, mapId);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }
}
