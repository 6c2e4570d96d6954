// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.other.OtherJava;
import dev.sluice.spark.other.SmallProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two executors of one application on different JDKs, as while the nodes of a cluster change. */
final class MixedJavaLongIT {
  private static final Path OWN = Path.of(System.getProperty("java.home"));

  /** A shuffle for Java 17, which loads none of this build's classes. */
  private static final String PROGRAM =
      """
      import java.util.TreeMap;
      import java.util.stream.Collectors;
      import java.util.stream.IntStream;
      import org.apache.spark.SparkConf;
      import org.apache.spark.api.java.JavaSparkContext;
      import scala.Tuple2;

      public class Program {
        public static void main(String[] args) {
          try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
            System.out.println("SUMS " + new TreeMap<>(context
                .parallelize(IntStream.range(0, 100).boxed().collect(Collectors.toList()), 8)
                .mapToPair(i -> new Tuple2<>(i % 4, i))
                .reduceByKey((a, b) -> a + b, 4)
                .collectAsMap()));
          }
        }
      }
      """;

  @TempDir private Path directory;

  @Test
  void executorsOnJava21AndOnANewerOneReadFromEachOther() throws Exception {
    try (Deployment deployment = Deployment.start("mixed-java-21")) {
      Result result =
          deployment.submitWithJars(
              "mixed-java-21", settings(OtherJava.home(21)), ShuffleApplication.SHUFFLE);
      assertThat(result.exitCode()).as(result.end()).isZero();
      assertThat(result.rounds()).singleElement().matches(Round::right);
      Totals totals = result.rounds().getFirst().totals();
      assertThat(totals.read()).isPositive();
      assertThat(totals.fallbackByReason()).isEmpty();
    }
  }

  @Test
  void anExecutorOnJava17IsLeftToSparksTransfer() throws Exception {
    try (Deployment deployment = Deployment.start("mixed-java-17")) {
      Result result =
          deployment.submitProgram(
              "mixed-java-17", settings(OtherJava.home(17)), "Program", program());
      assertThat(result.exitCode()).as(result.end()).isZero();
      assertThat(result.log())
          .contains("SUMS {0=1200, 1=1225, 2=1250, 3=1275}", "fallback.blocks.PEER=")
          .doesNotContain("read.blocks=");
      assertThat(deployment.work().logs(result.applicationId()))
          .contains("Using Spark's stock shuffle: RDMA shuffle needs Java 21, this JVM is Java 17");
    }
  }

  private Map<String, String> settings(Path java) throws IOException {
    return Map.of(
        "spark.executorEnv.JAVA_HOME",
        homeOfBoth(java).toString(),
        "spark.shuffle.rdma.provider",
        "auto");
  }

  /** Makes a JAVA_HOME that is the given one for the first executor, and this JVM's for others. */
  private Path homeOfBoth(Path first) throws IOException {
    Path java = Files.createDirectories(directory.resolve("bin")).resolve("java");
    Files.writeString(
        java,
        """
        #!/bin/sh
        case "$*" in
          *"--executor-id 0 "*) exec %s/bin/java "$@" ;;
          *) exec %s/bin/java "$@" ;;
        esac
        """
            .formatted(first, OWN));
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    return directory;
  }

  /** Compiles and packs {@link #PROGRAM}. */
  private Path program() throws IOException {
    SmallProgram.compile(PROGRAM, directory);
    Path jar = directory.resolve("program.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("Program.class"));
      Files.copy(directory.resolve("Program.class"), out);
    }
    return jar;
  }
}
