package dev.sluice.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A limit of what a process reads from a disk, by a control group of its own. What is in the page
 * cache is not read.
 */
public final class ReadLimit {
  /** Of version 1: that of version 2 is for groups only that nobody has given processes to. */
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/blkio");

  private ReadLimit() {}

  /** Null where it can be set. */
  public static String unavailable() {
    return Commands.isRoot() && Files.isDirectory(GROUPS)
        ? null
        : "only root may limit disks, by blkio of control groups version 1";
  }

  /**
   * @param directory on the disk
   */
  public static void set(long process, Path directory, long bytesASecond) throws IOException {
    Path group = Files.createDirectories(group(process));
    long device = (Long) Files.getAttribute(directory, "unix:dev");
    String limit = "%d:%d %d".formatted(device >> 8, device & 0xFF, bytesASecond);
    Files.writeString(group.resolve("blkio.throttle.read_bps_device"), limit);
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(process));
  }

  /**
   * Ends it, if there is one, for the process, if it lives, and those that it has started since.
   */
  public static void lift(long process) throws IOException {
    if (Files.exists(group(process))) {
      for (String member : Files.readAllLines(group(process).resolve("cgroup.procs"))) {
        if (ProcessHandle.of(Long.parseLong(member)).isPresent()) {
          Files.writeString(GROUPS.resolve("cgroup.procs"), member);
        }
      }
      Files.delete(group(process));
    }
  }

  private static Path group(long process) {
    return GROUPS.resolve("sluice-" + process);
  }
}
