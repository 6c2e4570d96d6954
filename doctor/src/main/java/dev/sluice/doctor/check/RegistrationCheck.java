// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.doctor.Finding;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Check that tries out whether map outputs can be registered in a local directory. {@link Checks}
 * makes one for each directory, and {@link CheckRunner} runs it once on a thread of its own. It
 * opens a device and closes it. Its messages must not name an executor's own directory, or equal
 * findings are no longer one row.
 */
record RegistrationCheck(CheckContext context, Path directory) implements Check {
  /** Directory that Spark makes in a local directory, with a different name for each executor. */
  private static final Pattern OF_ONE_EXECUTOR =
      Pattern.compile("/(spark|executor|blockmgr)-\\p{XDigit}{8}-.*");

  /** With less space no task can write a map output. */
  private static final long LEAST_BYTES = 1 << 20;

  @Override
  public String name() {
    return "registration";
  }

  @Override
  public List<Finding> findings() throws IOException {
    if (!Files.isDirectory(directory)) {
      return unusable(
          Files.exists(directory) ? "is not a directory" : "does not exist", "create it");
    }
    if (!Files.isWritable(directory)) {
      return unusable("is not writable", "change its owner or permissions, or mount it read-write");
    }
    if (Files.getFileStore(directory).getUsableSpace() < LEAST_BYTES) {
      return unusable("is full", "free some space");
    }
    try (Device device = context.open();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      return List.of(tried(device, domain));
    }
  }

  private List<Finding> unusable(String why, String set) {
    return List.of(
        Finding.fail(
                name(),
                place() + " " + why,
                set + "; or remove it from spark.local.dir or --local-dirs")
            .with("directory", place())
            .with("registered", false));
  }

  private Finding tried(Device device, ProtectionDomain domain) {
    try {
      LocalDirectories.Trial trial =
          LocalDirectories.tryOut(domain, context.memory().mode(), directory);
      String said =
          device.providerName() + ": " + trial.said().replace(directory.toString(), place());
      Finding finding =
          trial.registers()
              ? Finding.ok(name(), said)
              : Finding.warn(
                  name(),
                  said,
                  trial.isConclusive()
                      ? "use Linux 6.2 or newer, or another file system"
                      : "raise the limit that the message names, or free memory or disk space");
      return finding
          .with("directory", place())
          .with("provider", device.providerName())
          .with("registered", trial.registers());
    } catch (RegistrationUnavailableException e) {
      return Finding.fail(
          name(), String.valueOf(e.getMessage()), "set spark.shuffle.rdma.registration.mode=auto");
    }
  }

  /** Returns the directory with a text that all executors share, so that findings are equal. */
  private String place() {
    return OF_ONE_EXECUTOR.matcher(directory.toString()).replaceFirst("/...");
  }
}
