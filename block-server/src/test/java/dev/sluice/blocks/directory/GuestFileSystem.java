// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * File systems in files, mounted in a guest of the test bed. Guest kernels support them, whatever
 * file system the machine uses. They vanish with the guest.
 *
 * @param directory the mount point; null if not mounted
 * @param missing the reason for not mounting it, or null
 */
public record GuestFileSystem(Path directory, String missing) {
  /** Types of file systems, and the packages with their mkfs commands. */
  private static final Map<String, String> TYPES = Map.of("ext4", "e2fsprogs", "xfs", "xfsprogs");

  /** Minimum size for mkfs.xfs(8); the file is sparse. */
  private static final String SIZE = "320M";

  private static final long TIMEOUT_S = 60;

  /** Mounts a file system of each type; none outside of a guest. */
  public static Stream<GuestFileSystem> mountAll() {
    String testBed = System.getenv("SLUICE_TESTBED");
    return "uml".equals(testBed) || "qemu".equals(testBed)
        ? TYPES.keySet().stream().sorted().map(GuestFileSystem::of)
        : Stream.empty();
  }

  private static GuestFileSystem of(String type) {
    boolean installed =
        Stream.of(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mkfs." + type)));
    return installed
        ? new GuestFileSystem(mount(type), null)
        : new GuestFileSystem(
            null, "there is no mkfs." + type + ": apt-get install " + TYPES.get(type));
  }

  private static Path mount(String type) {
    try {
      Path directory = Files.createTempDirectory(type + "-");
      String image = directory + ".image";
      run("truncate", "-s", SIZE, image);
      run("mkfs." + type, "-q", image);
      run("mount", "-t", type, "-o", "loop", image, directory.toString());
      return directory;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("cannot mount a file system of type " + type, e);
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS))
        .as(List.of(command) + " ends")
        .isTrue();
    assertThat(process.exitValue()).as("exit status of " + List.of(command)).isZero();
  }
}
