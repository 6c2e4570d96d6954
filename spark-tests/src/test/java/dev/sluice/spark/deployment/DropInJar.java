// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import java.nio.file.Path;

/** Locates the drop-in jar that the build made. */
final class DropInJar {
  private DropInJar() {}

  static Path path() {
    return Path.of(System.getProperty("sluice.jar"));
  }

  /** The directory of the whole project. */
  static Path project() {
    return path().getParent().getParent().getParent();
  }
}
