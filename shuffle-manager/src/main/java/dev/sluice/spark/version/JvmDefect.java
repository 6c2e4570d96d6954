package dev.sluice.spark.version;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A defect of the JVM that corrupts data silently (JDK-8377811): with G1, Java 25 before 25.0.3
 * moves arrays that native code is working on, as codecs' and zlib's do. Whether any build of 26
 * has it is not known. The shuffle manager's constructor warns of it, once a process.
 */
public final class JvmDefect {
  private static final Logger LOG = LoggerFactory.getLogger(JvmDefect.class);

  private JvmDefect() {}

  /** Warns where this JVM has the defect. */
  public static void warn() {
    warning(Runtime.version(), collectorIsG1()).ifPresent(LOG::warn);
  }

  /** What to say where a JVM has the defect. */
  public static Optional<String> warning(Runtime.Version version, boolean g1) {
    return g1 && version.feature() == 25 && version.update() < 3
        ? Optional.of(
            "Java "
                + version
                + " with the G1 collector can corrupt data silently, in Spark's codecs as well"
                + " (JDK-8377811): use 25.0.3 or newer, or another collector, as in"
                + " spark.executor.extraJavaOptions=-XX:+UseParallelGC")
        : Optional.empty();
  }

  /** Each collector's beans begin with its name. */
  public static boolean collectorIsG1() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .anyMatch(collector -> collector.getName().startsWith("G1 "));
  }
}
