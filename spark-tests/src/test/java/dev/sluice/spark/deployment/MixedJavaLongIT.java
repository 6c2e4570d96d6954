// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.other.OtherJava;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two executors of one application on different JDKs, as while the nodes of a cluster change. */
final class MixedJavaLongIT {
  private static final Path OWN = Path.of(System.getProperty("java.home"));

  @TempDir private Path directory;

  @Test
  void executorsOnJava21AndOnANewerOneReadFromEachOther() throws Exception {
    Result result = run("mixed-java-21", OtherJava.home(21));
    Totals totals = result.rounds().getFirst().totals();
    assertThat(totals.read()).isPositive();
    assertThat(totals.fallbackByReason()).isEmpty();
  }

  @Test
  void anExecutorOnJava17IsLeftToSparksTransfer() throws Exception {
    Result result = run("mixed-java-17", OtherJava.home(17));
    Totals totals = result.rounds().getFirst().totals();
    assertThat(totals.read()).isZero();
    assertThat(totals.fallbackByReason()).containsOnlyKeys("PEER");
  }

  private Result run(String name, Path java) throws IOException, InterruptedException {
    try (Deployment deployment = Deployment.start(name)) {
      Result result =
          deployment.submitWithJars(
              name,
              Map.of(
                  "spark.executorEnv.JAVA_HOME",
                  homeOfBoth(java).toString(),
                  "spark.shuffle.rdma.provider",
                  "auto"),
              ShuffleApplication.SHUFFLE);
      assertThat(result.exitCode()).as(result.end()).isZero();
      assertThat(result.rounds()).singleElement().matches(Round::right);
      return result;
    }
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
}
