package dev.sluice.blocks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * File systems in files, mounted in a guest of the test bed, which takes them with it when it ends:
 * the kernels of guests have them, whatever the machine lies on.
 */
final class GuestFileSystem {
  private static final List<String> TYPES = List.of("ext4", "xfs");

  /** The least that mkfs.xfs(8) takes; the file is sparse. */
  private static final String SIZE = "320M";

  private static final long TIMEOUT_S = 60;

  private GuestFileSystem() {}

  /** Where they are mounted; nothing outside of a guest. */
  static Stream<Path> mountAll() {
    String testBed = System.getenv("SLUICE_TESTBED");
    return "uml".equals(testBed) || "qemu".equals(testBed)
        ? TYPES.stream().map(GuestFileSystem::mount)
        : Stream.empty();
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
