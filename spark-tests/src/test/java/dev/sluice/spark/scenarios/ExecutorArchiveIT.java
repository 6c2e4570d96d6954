// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;

/** Executors take their classes from the archive of {@link ExecutorArchive}. */
final class ExecutorArchiveIT {
  private static final Pattern ARCHIVE = Pattern.compile("-XX:SharedArchiveFile=(\\S+)");

  /** A class that each executor loads, in the output of the JVM's command VM.classes. */
  private static final Pattern LOADED =
      Pattern.compile(
          "fully_initialized +(\\w+) +" + Pattern.quote(SparkEnv.class.getName()) + " ");

  /** A flag of classes that come from an archive. */
  private static final String FROM_ARCHIVE = "S";

  @Test
  void executorsTakeTheirClassesFromTheArchive() {
    Matcher archive = ARCHIVE.matcher(System.getProperty(LocalCluster.EXECUTOR_OPTIONS));
    assumeTrue(
        archive.find()
            && Files.exists(Path.of(archive.group(1)))
            && Runtime.version().feature() >= 25,
        "the archive of classes is made with the JDK that compiles");
    try (LocalCluster cluster = LocalCluster.start()) {
      assertThat(cluster.context().parallelize(List.of(1), 1).map(_ -> flags()).first())
          .contains(FROM_ARCHIVE);
    }
  }

  private static String flags() throws Exception {
    Object classes =
        ManagementFactory.getPlatformMBeanServer()
            .invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "vmClasses",
                new Object[] {new String[0]},
                new String[] {String[].class.getName()});
    Matcher loaded = LOADED.matcher((String) classes);
    return loaded.find() ? loaded.group(1) : "not loaded";
  }
}
