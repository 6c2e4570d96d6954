// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * Tells of a defect of the JVM that corrupts data silently (JDK-8377811). With G1, Java 25 before
 * 25.0.3 moves arrays on which native code is working, as that of codecs and zlib does. It is not
 * known if any build of 26 has the defect. {@code SluiceShuffle}'s constructor warns, once for each
 * shuffle manager; the doctor's {@link JavaCheck} reports it. Any thread.
 */
public final class JvmDefect {
  private JvmDefect() {}

  /** Returns the warning for a JVM; empty if it does not have the defect. */
  public static Optional<String> warning(Runtime.Version version, boolean g1) {
    return g1 && version.feature() == 25 && version.update() < 3
        ? Optional.of(
            "Java "
                + version
                + " with the G1 collector can corrupt data silently, in Spark's codecs as well"
                + " (JDK-8377811): use 25.0.3 or newer, or another collector, for example with"
                + " spark.executor.extraJavaOptions=-XX:+UseParallelGC")
        : Optional.empty();
  }

  /** Returns true if the collector is G1. Its beans' names begin with the collector's. */
  public static boolean collectorIsG1() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .anyMatch(collector -> collector.getName().startsWith("G1 "));
  }
}
