// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Check of rdma-core's library files that this process has loaded, as the kernel names them. The
 * last number of their names is rdma-core's version. It loads them for the rest of the process.
 * {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record RdmaCoreCheck(Path root) implements Check {
  static final String NAME = "rdma-core";

  private static final Pattern LIBRARY =
      Pattern.compile("\\s(/\\S*/lib(?:ibverbs|rdmacm)\\.so\\.\\d+\\.\\d+\\.(\\d+)\\S*)$");
  private static final String PACKAGES =
      "install rdma-core (Debian, Ubuntu: libibverbs1 ibverbs-providers librdmacm1)";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    String reason = load();
    List<Finding> loaded =
        Files.readAllLines(root.resolve("proc/self/maps")).stream()
            .map(LIBRARY::matcher)
            .filter(Matcher::find)
            .map(
                file ->
                    Finding.ok(name(), "rdma-core " + file.group(2) + ", " + file.group(1))
                        .with("version", file.group(2))
                        .with("file", file.group(1)))
            .distinct()
            .toList();
    return loaded.isEmpty() ? List.of(Finding.warn(name(), reason, PACKAGES)) : loaded;
  }

  /**
   * Loads the library, and returns the reason to report if its file is not found. A kernel without
   * RDMA is another check's matter.
   */
  private static String load() {
    try {
      IbvDeviceList.get().close();
      return "/proc/self/maps does not show the file of its library";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
