// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutorFoldersTest {
  @TempDir Path directory;

  private Path folder(String content) throws IOException {
    Path folder = Files.createDirectory(directory.resolve("blockmgr-1"));
    Files.writeString(folder.resolve(".sluice-executor"), content);
    return folder;
  }

  /** The lock may be held in another kernel, or be one of the file system's own. */
  @Test
  void aFolderThatWasNeverSeenLockedStays() throws Exception {
    folder("");
    List<Path> removed = new ArrayList<>();
    ExecutorFolders.removeDead(directory, removed::add);
    assertThat(removed).isEmpty();
  }

  @Test
  void aFolderThatAnEarlierDaemonSawLockedIsRemoved() throws Exception {
    Path folder = folder("!");
    List<Path> removed = new ArrayList<>();
    ExecutorFolders.removeDead(directory, removed::add);
    assertThat(removed).containsExactly(folder);
  }

  @Test
  void foldersOfOtherUsersCauseNoWarning() throws Exception {
    Path folder = folder("!");
    try (LogCapture log = new LogCapture(ExecutorFolders.class, Level.WARN)) {
      ExecutorFolders.removeDead(
          directory,
          _ -> {
            throw new AccessDeniedException(folder.toString());
          });
      assertThat(log.messages()).isEmpty();
    }
  }
}
