// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  private static final long NO_PROCESS = Long.MAX_VALUE;

  @TempDir Path parent;

  @Test
  void directoriesOfEndedProcessesAreDeletedAndThoseOfRunningOnesKept() throws IOException {
    Path ended = Files.createDirectories(parent.resolve("run-" + NO_PROCESS).resolve("output"));
    Path running = Files.createDirectory(parent.resolve("run-1"));
    Path input = Files.createDirectory(parent.resolve("input-1g"));
    Path run = RunDirectory.create(parent);
    assertThat(run).isEmptyDirectory();
    assertThat(ended).doesNotExist();
    assertThat(running).exists();
    assertThat(input).exists();
  }
}
