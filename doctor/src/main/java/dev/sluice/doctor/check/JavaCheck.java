// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.PageSize;
import java.util.List;
import java.util.Optional;

/** Check of the JVM, its version and its machine. */
record JavaCheck(Runtime.Version version, boolean g1) implements Check {
  @Override
  public String name() {
    return "java";
  }

  @Override
  public List<Finding> findings() {
    Optional<String> defect = JvmDefect.warning(version, g1);
    String home = System.getProperty("java.home");
    String architecture = System.getProperty("os.arch");
    Finding finding =
        defect.isPresent()
            ? Finding.warn(name(), defect.get(), "change JAVA_HOME of driver and executors")
            : Finding.ok(
                name(),
                "Java %s on %s with pages of %d KiB, %s"
                    .formatted(version, architecture, PageSize.BYTES >> 10, home));
    return List.of(
        finding
            .with("version", version.toString())
            .with("home", home)
            .with("architecture", architecture)
            .with("pageBytes", PageSize.BYTES));
  }
}
