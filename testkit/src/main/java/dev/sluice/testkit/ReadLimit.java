// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Limits the rate at which a process reads from a disk, by a control group. Reads from the page
 * cache are not limited. The fault {@code SlowDisk} and {@code bench stage} set it, each on one
 * thread, and must lift it: the group stays until then, even if the process has ended.
 */
public final class ReadLimit {
  /** Control groups version 1: in version 2, a group with processes cannot limit its children. */
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/blkio");

  private ReadLimit() {}

  /** Returns why the limit cannot be set; null if it can. */
  public static @Nullable String unavailable() {
    return Commands.isRoot() && Files.isDirectory(GROUPS)
        ? null
        : "limiting a disk needs root, and blkio of control groups version 1";
  }

  /**
   * @param directory any directory on the disk
   */
  public static void set(long process, Path directory, long bytesASecond) throws IOException {
    Path group = Files.createDirectories(group(process));
    long device = (Long) Files.getAttribute(directory, "unix:dev");
    String limit = "%s %d".formatted(numbers(device), bytesASecond);
    Files.writeString(group.resolve("blkio.throttle.read_bps_device"), limit);
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(process));
  }

  /**
   * Returns the major and the minor number of a device, each of which has two parts (makedev(3)).
   */
  static String numbers(long device) {
    long major = device >> 32 & ~0xFFFL | device >> 8 & 0xFFF;
    long minor = device >> 12 & 0xFFFFFF00L | device & 0xFF;
    return "%d:%d".formatted(major, minor);
  }

  /**
   * Removes the limit, if there is one, from the process and from the processes that it has started
   * since.
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
