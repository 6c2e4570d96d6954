// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.util.List;
import java.util.Optional;

/**
 * Tells the version of Sluice, and if it supports a JVM and a version of Spark. {@code
 * RdmaShuffle}, {@code SluiceRuntime}, {@code LocationDirectory}, {@code MetricsSource} and the
 * doctor call it, on any thread. Compiled for the oldest JVM that Spark runs on, Java 17, and
 * linked to no class of Spark: the doctor runs without Spark.
 */
public final class Platform {
  /**
   * The driver's version, unless it is unknown. The driver sets it, its user interface and event
   * log show it, and executors compare theirs with it. It is no setting, and has another prefix.
   */
  public static final String DRIVER_VERSION = "spark.sluice.version";

  private static final int JAVA = 21;
  private static final List<String> SPARKS = List.of("4.0", "4.1", "4.2");

  private Platform() {}

  /** Returns version and commit of Sluice, from the manifest of its jar; empty outside of it. */
  public static Optional<String> version() {
    Package own = Platform.class.getPackage();
    String title = own.getImplementationTitle(); // Another project's jar may contain Sluice.
    return title != null && title.startsWith("Sluice ")
        ? Optional.ofNullable(own.getImplementationVersion())
        : Optional.empty();
  }

  /**
   * Returns why Sluice does not run; empty if it does.
   *
   * @param javaVersion feature release of the JVM
   * @param sparkVersion version that Spark reports, also 4.1.1-SNAPSHOT, or 4.0.2.vendor.3
   */
  public static String lack(int javaVersion, String sparkVersion) {
    if (SPARKS.stream().noneMatch(line -> isOf(line, sparkVersion))) {
      return String.format(
          "this version of the RDMA shuffle is for %s, and this is Spark %s",
          sparks(), sparkVersion);
    }
    return lack(javaVersion);
  }

  /** Returns why Sluice does not run on a feature release of the JVM; empty if it does. */
  public static String lack(int javaVersion) {
    return javaVersion < JAVA
        ? String.format("RDMA shuffle needs Java %d, this JVM is Java %d", JAVA, javaVersion)
        : "";
  }

  /** Returns the versions of Spark that Sluice runs on, in words. */
  public static String sparks() {
    return String.format("Spark %s to %s", SPARKS.get(0), SPARKS.get(SPARKS.size() - 1));
  }

  private static boolean isOf(String line, String version) {
    return version.startsWith(line)
        && (version.length() == line.length() || !Character.isDigit(version.charAt(line.length())));
  }
}
