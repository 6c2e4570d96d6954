// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.other.OtherJava;
import dev.sluice.spark.other.SparkJars;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The doctor as a job of a standalone cluster. */
final class DoctorJobIT {
  @Test
  void looksAtEveryExecutorAndReadsFromEachToEachOther() throws Exception {
    try (Deployment deployment = Deployment.startOnHosts("doctor", "127.0.0.1", "127.0.0.2")) {
      Map<String, String> three = Map.of("spark.cores.max", "3");
      Result result = deployment.submitDoctor("mesh", three, List.of(), "--mesh");
      assertThat(result.log())
          .contains(
              "3 of 3 are checked: 1 executor(s) each on 1 host(s), 2 executor(s) each on 1"
                  + " host(s)")
          .containsPattern(
              "ok +java +Java "
                  + Runtime.version().feature()
                  + ".*\\s+on 0@127.0.0.., 1@127.0.0.., 2@127.0.0..\\s")
          .containsPattern("ok +provider +soft")
          .containsPattern(
              "ok +registration +soft: Map outputs in .*/\\.\\.\\. .* as open files.*\\s+on 0@.*, 1@")
          .containsPattern(
              "ok +mesh +2 pairs READ, median \\d+ MB/s.*; .* 127.0.0.[12] from 127.0.0.[12]: ")
          .doesNotContainPattern("(?m)^fail ");
      assertThat(result.exitCode()).as(result.end()).isLessThan(2);
    }
  }

  /** A standalone Master gives as many as there is room for, and they take a while to start. */
  @Test
  void executorsAreWaitedFor() throws Exception {
    try (Deployment deployment = Deployment.start("doctor-wait")) {
      Map<String, String> open = Map.of("spark.cores.max", "");
      Result all = deployment.submitDoctor("all", open, List.of(), "--mesh");
      assertThat(all.log())
          .containsPattern("ok +executors +2 are checked, and no more came for 15 s")
          .containsPattern("ok +mesh +one host")
          .doesNotContainPattern("(?m)^fail ");
      // The cluster has room for two executors; on a slow machine none may have started by then.
      Result more =
          deployment.submitDoctor(
              "more", open, List.of(), "--executors", "3", "--wait", "5", "--json");
      assertThat(more.log())
          .containsPattern("\"values\": \\{\"seen\": [012], \"expected\": 3}")
          .containsPattern("(2|1|none) of 3 registered within 5 s");
      assertThat(more.exitCode()).as(more.end()).isPositive();
    }
  }

  @Test
  void executorsOnAnOlderJvmAreNamed() throws Exception {
    try (Deployment old = Deployment.startOn(OtherJava.home(17), "doctor-java-17")) {
      Result result = old.submitDoctor("java-17", Map.of(), SparkJars.hadoopOnJava25(), "--mesh");
      assertThat(result.log())
          .containsPattern("fail +java +RDMA shuffle needs Java 21, this JVM is Java 17\\s+on 0@");
      assertThat(result.exitCode()).as(result.end()).isEqualTo(2);
    }
  }

  /** A driver that cannot start is a line as well, and not one of Spark's own exit statuses. */
  @Test
  void aWrongConfigurationIsReported() throws Exception {
    try (Deployment deployment = Deployment.start("doctor-wrong")) {
      Map<String, String> wrong = Map.of("spark.shuffle.rdma.nonsense", "1");
      Result result = deployment.submitDoctor("wrong", wrong, List.of());
      assertThat(result.log())
          .containsPattern("fail +application +.*spark.shuffle.rdma.nonsense.*\\s+fix: ")
          .doesNotContain("Exception in thread");
      assertThat(result.exitCode()).as(result.end()).isEqualTo(2);
    }
  }
}
