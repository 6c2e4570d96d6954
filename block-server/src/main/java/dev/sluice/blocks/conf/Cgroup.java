// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits of the control groups of this process, in version 2 or 1 (cgroups(7)). {@link
 * ExecutorConf} and the doctor call it, on any thread. It reads the files at each call and keeps
 * nothing. A file that cannot be read counts as no limit.
 *
 * @param root {@code /}, or a directory in its place
 */
public record Cgroup(Path root) {
  private static final Logger LOG = LoggerFactory.getLogger(Cgroup.class);

  /** Values from here on mean no limit in version 1. */
  private static final long NO_LIMIT = 1L << 62;

  /** Returns the smallest memory limit of the group and its parents in bytes; empty for none. */
  public OptionalLong memoryMax() {
    return files("memory", "memory.max", "memory.limit_in_bytes")
        .flatMap(Cgroup::limit)
        .mapToLong(Long::longValue)
        .filter(bytes -> bytes < NO_LIMIT)
        .min();
  }

  /** Returns RDMA limits of the group and its parents, such as {@code mlx5_0 hca_handle=2}. */
  public List<String> rdmaMax() {
    return files("rdma", "rdma.max", "rdma.max").flatMap(file -> read(file).lines()).toList();
  }

  /**
   * @param name name of the file in version 2
   * @param oldName its name in version 1
   */
  private Stream<Path> files(String controller, String name, String oldName) {
    Path mount = root.resolve("sys/fs/cgroup");
    // A line is hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
    return read(root.resolve("proc/self/cgroup"))
        .lines()
        .map(line -> line.split(":", 3))
        .filter(fields -> fields.length == 3)
        .flatMap(
            fields ->
                fields[1].isEmpty()
                    ? wayUp(mount, fields[2], name)
                    : List.of(fields[1].split(",")).contains(controller)
                        ? wayUp(mount.resolve(controller), fields[2], oldName)
                        : Stream.empty());
  }

  /**
   * Returns the file in the group and its parents. In a container the path may be the host's, which
   * is not mounted; then the mount itself is used.
   */
  private static Stream<Path> wayUp(Path mount, String cgroup, String file) {
    Path leaf = mount.resolve(cgroup.replaceFirst("^/+", "")).normalize();
    return Stream.iterate(leaf, dir -> dir != null && dir.startsWith(mount), Path::getParent)
        .map(dir -> dir.resolve(file))
        .filter(Files::isReadable);
  }

  private static Stream<Long> limit(Path file) {
    String text = read(file).strip();
    try {
      return text.equals("max") ? Stream.empty() : Stream.of(Long.valueOf(text));
    } catch (NumberFormatException e) {
      LOG.warn("Value {} of {} is not a number; no limit is assumed", text, file);
      return Stream.empty();
    }
  }

  private static String read(Path file) {
    try {
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException e) {
      LOG.warn("Cannot read {}; no limit is assumed", file, e);
      return "";
    }
  }
}
