package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.spark.version.JvmDefect;
import java.util.List;
import java.util.Optional;

/** The JVM and its level. */
record JavaCheck(Runtime.Version version, boolean g1) implements Check {
  @Override
  public String name() {
    return "java";
  }

  @Override
  public List<Finding> findings() {
    Optional<String> defect = JvmDefect.warning(version, g1);
    return List.of(
        defect.isPresent()
            ? Finding.warn(name(), defect.get(), "JAVA_HOME of driver and executors")
            : Finding.ok(name(), "Java " + version + ", " + System.getProperty("java.home")));
  }
}
