// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.BlockLines;
import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.other.OtherJava;
import dev.sluice.spark.scenarios.KnownShuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The drop-in jar in a standalone cluster. With --jars, executors load Sluice's classes by a class
 * loader that Spark's RPC does not know. Messages between driver and executors must therefore not
 * contain those classes.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StandaloneIT {
  private static final int EXECUTORS = 2;

  private final Deployment deployment = Deployment.start("standalone");

  StandaloneIT() throws IOException, InterruptedException {}

  @AfterAll
  void stop() {
    deployment.close();
  }

  @Test
  void theJarIsDroppedInByJarsAlone() throws Exception {
    assertRead(deployment.submitWithJars("by-jars", Map.of(), ShuffleApplication.SHUFFLE));
  }

  @Test
  void theExampleForUsersReadsAndSaysSo() throws Exception {
    Result result = deployment.submitExample("example");
    assertThat(result.exitCode()).as(result.end()).isZero();
    assertThat(result.log().lines())
        .contains("1000 groups")
        .anyMatch(line -> line.matches("[1-9]\\d* bytes by READ"));
  }

  @Test
  void theJarIsDroppedInByClassPath() throws Exception {
    assertRead(
        deployment.submitWithClassPath("by-class-path", Map.of(), ShuffleApplication.SHUFFLE));
  }

  @Test
  void theJarIsDroppedIntoAnImage() throws Exception {
    try (Deployment image = Deployment.startImage("image")) {
      assertRead(image.submit("in-image", Map.of(), ShuffleApplication.SHUFFLE));
    }
  }

  /** With Spark's jars as released: Hadoop's need not be replaced there. */
  @Test
  void theClusterAndItsApplicationsRunOnJava21() throws Exception {
    try (Deployment java21 = Deployment.startAllOn(OtherJava.home(21), "java-21")) {
      assertRead(java21.submitWithJars("on-java-21", Map.of(), ShuffleApplication.SHUFFLE));
    }
  }

  @Test
  void theDriverWarnsOfExecutorsOfAnotherVersion() throws Exception {
    Path older =
        DropInJar.copy(
            DropInJar.path(), deployment.directory("older").resolve("sluice.jar"), "0.0.1+cafe");
    Result result =
        deployment.submitWithJars(
            "older",
            Map.of("spark.executor.extraClassPath", older.toString()),
            ShuffleApplication.SHUFFLE);
    assertRead(result);
    assertThat(result.log().lines().filter(line -> line.contains("runs Sluice")))
        .singleElement()
        .asString()
        .contains("runs Sluice 0.0.1+cafe, but the driver runs " + DropInJar.version());
    assertThat(result.log()).contains("This is Sluice " + DropInJar.version());
    assertThat(deployment.work().logs(result.applicationId()))
        .contains("This is Sluice 0.0.1+cafe");
  }

  @Test
  void oneApplicationHasAnotherJvmThanItsCluster() throws Exception {
    try (Deployment old = Deployment.startOn(OtherJava.home(17), "java-17")) {
      String java = System.getProperty("java.home");
      assertRead(
          old.submitOnJava25(
              "on-java-25",
              Map.of("spark.executorEnv.JAVA_HOME", java),
              ShuffleApplication.SHUFFLE));
    }
  }

  @Test
  void aWrongKeyEndsTheApplicationBeforeExecutorsStart() throws Exception {
    Result result =
        deployment.submitWithJars(
            "wrong-key", Map.of("spark.shuffle.rdma.provder", "soft"), ShuffleApplication.SHUFFLE);
    assertThat(result.exitCode()).isNotZero();
    assertThat(result.log()).contains("spark.shuffle.rdma.provder");
    assertThat(result.rounds()).isEmpty();
  }

  @Test
  void executorsThatCannotReachTheDirectoryShuffleBySparksTransfer() throws Exception {
    Result result =
        deployment.submitWithJars(
            "without-directory", Map.of(), ShuffleApplication.WITHOUT_DIRECTORY);
    assertRight(result);
  }

  @Test
  void anErrorOfTheDirectoryReachesAnExecutorInItsWords() throws Exception {
    Result result =
        deployment.submitWithJars("misunderstood", Map.of(), ShuffleApplication.MISUNDERSTOOD);
    assertThat(result.log().lines().filter(line -> line.startsWith(ShuffleApplication.REFUSAL)))
        .singleElement()
        .asString()
        .contains("IllegalStateException");
    assertRead(result);
  }

  /** Each serialization makes a Kryo, which needs a class that only the application's jar has. */
  @Test
  void locationsDoNotDependOnTheApplicationsSerializer() throws Exception {
    Result result =
        deployment.submitWithJars(
            "registrator",
            Map.of(
                "spark.serializer",
                "org.apache.spark.serializer.KryoSerializer",
                "spark.kryo.pool",
                "false",
                "spark.kryo.registrator",
                ApplicationRegistrator.class.getName(),
                "spark.shuffle.mapOutput.minSizeForBroadcast",
                "0"),
            ShuffleApplication.SHUFFLE);
    assertRead(result);
    String executors = deployment.work().logs(result.applicationId());
    assertThat(result.log() + executors)
        .contains(ApplicationRegistrator.USED)
        .doesNotContain(ApplicationRegistrator.USED + " sluice-");
  }

  @Test
  void theLogsOfExecutorsAndDriverCountAllBlocksByPath() throws Exception {
    Result result = deployment.submitWithJars("said", Map.of(), ShuffleApplication.SAID);
    assertRead(result);
    Totals application = BlockLines.ofApplication(result.log());
    Totals executors = BlockLines.ofExecutors(deployment.work().logs(result.applicationId()));
    assertThat(application.blocks())
        .isEqualTo((long) KnownShuffle.SMALL.maps() * ShuffleApplication.PARTITIONS);
    assertThat(application).hasToString(result.rounds().getFirst().totals().toString());
    assertThat(executors).hasToString(application.toString());
    assertThat(executors.readBytes()).isEqualTo(application.readBytes()).isPositive();
    assertThat(executors.of("local.bytes")).isEqualTo(application.of("local.bytes")).isPositive();
  }

  private static void assertRead(Result result) {
    assertRight(result);
    assertThat(result.rounds().getFirst().totals().read()).isPositive();
    assertThat(result.rounds().getFirst().totals().fallbackByReason()).isEmpty();
  }

  private static void assertRight(Result result) {
    assertThat(result.exitCode()).as(result.end()).isZero();
    assertThat(result.rounds()).hasSize(1).allMatch(Round::right);
    assertThat(result.log().contains("ClassNotFoundException")).isFalse();
    assertThat(result.executorsLaunched()).isEqualTo(EXECUTORS);
  }
}
