// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Opens a file of a map output before it is read. A guard of files that another user can replace at
 * any time checks the file that it has opened, and everything then reads that one. Threads that may
 * wait for a disk call it, for each time that a file is opened.
 */
@FunctionalInterface
public interface FileGuard {
  /** Guard of files in directories that only this process's user can change. */
  FileGuard NONE = path -> new Guarded(path, () -> {});

  /**
   * A file that may be read. The thread that opened it closes it, when it has read it, or has
   * opened it by its path.
   *
   * @param path names the file until close
   */
  record Guarded(Path path, Closeable file) implements Closeable {
    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  /**
   * Checks the file.
   *
   * @throws NoSuchFileException if it does not exist; this is optional
   * @throws InconsistentFilesException if it is not a file of the map output's owner
   */
  Guarded open(Path path) throws IOException;
}
