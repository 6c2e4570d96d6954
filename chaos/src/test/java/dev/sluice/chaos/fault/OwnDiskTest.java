// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.testkit.Commands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnDiskTest {
  /** The process of the file system may have ended, so that it takes no signal. */
  @Test
  void aSilentDiskIsUnmountedEvenIfItsProcessTakesNoSignal(@TempDir Path directory)
      throws IOException {
    assumeTrue(mayMount(directory), "mounting a file system is not possible here");
    Path disk = Files.createDirectory(directory.resolve("disk"));
    new MachineFaults.FullDisk().mount(directory, disk);
    try {
      assertThatThrownBy(() -> new MachineFaults.SilentDisk().end(directory))
          .hasMessageContaining("pkill");
      assertThat(isMounted(disk)).isFalse();
    } finally {
      if (isMounted(disk)) {
        Commands.run(List.of("umount", disk.toString()));
      }
    }
  }

  private static boolean mayMount(Path directory) throws IOException {
    if (!Commands.isRoot()) {
      return false;
    }
    Path tried = Files.createDirectory(directory.resolve("tried"));
    try {
      new MachineFaults.FullDisk().mount(directory, tried);
    } catch (IOException e) {
      return false;
    }
    Commands.run(List.of("umount", tried.toString()));
    return true;
  }

  private static boolean isMounted(Path disk) throws IOException {
    return Files.readString(Path.of("/proc/mounts")).contains(" " + disk + " ");
  }
}
