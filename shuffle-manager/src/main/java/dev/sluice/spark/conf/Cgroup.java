package dev.sluice.spark.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits of the control groups that this process is in, of version 2 or 1 (cgroups(7)).
 *
 * @param root {@code /}, or a directory that stands for it
 */
public record Cgroup(Path root) {
  private static final Logger LOG = LoggerFactory.getLogger(Cgroup.class);

  /** From here on it is how version 1 writes that there is none. */
  private static final long NO_LIMIT = 1L << 62;

  /** The smallest limit of memory on the way up, in bytes; empty for none. */
  public OptionalLong memoryMax() {
    return files("memory", "memory.max", "memory.limit_in_bytes")
        .flatMap(Cgroup::limit)
        .mapToLong(Long::longValue)
        .filter(bytes -> bytes < NO_LIMIT)
        .min();
  }

  /** What is said on the way up of RDMA devices: a line such as {@code mlx5_0 hca_handle=2}. */
  public List<String> rdmaMax() {
    return files("rdma", "rdma.max", "rdma.max").flatMap(file -> read(file).lines()).toList();
  }

  /**
   * @param name of the file in version 2
   * @param oldName in version 1
   */
  private Stream<Path> files(String controller, String name, String oldName) {
    Path mount = root.resolve("sys/fs/cgroup");
    // Lines read hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers.
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

  /** In a container the path may be the host's, which is not mounted: then the mount itself. */
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
      LOG.warn("{} of {} is not taken for a limit", text, file);
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
