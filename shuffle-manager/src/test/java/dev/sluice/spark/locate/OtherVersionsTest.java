// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;

class OtherVersionsTest {
  private final OtherVersions versions = new OtherVersions("2.0+aa");

  @Test
  void eachOtherVersionIsLoggedOnceAndEachProcessIsCounted() {
    try (LogCapture log = new LogCapture(OtherVersions.class, Level.WARN)) {
      versions.found("Executor 1", "1.0+bb");
      versions.found("Executor 2", "1.0+bb");
      versions.found("Node daemon of host-7", "2.0+cc");
      assertThat(log.messages())
          .hasSize(2)
          .anyMatch(line -> line.startsWith("Executor 1 runs Sluice 1.0+bb"))
          .anyMatch(line -> line.startsWith("Node daemon of host-7 runs Sluice 2.0+cc"))
          .allMatch(line -> line.contains("the driver runs 2.0+aa"));
    }
    assertThat(versions.count()).isEqualTo(3);
  }

  @Test
  void processesThatEndOrAreUpdatedDoNotCount() {
    versions.found("Executor 1", "1.0+bb");
    versions.found("Node daemon of host-7", "1.0+bb");
    versions.ended("Executor 1");
    versions.found("Node daemon of host-7", "2.0+aa");
    assertThat(versions.count()).isZero();
  }

  @Test
  void aProcessThatAnswersAfterItsEndDoesNotCount() {
    assertThat(versions.ask("Node daemon of host-7")).isTrue();
    assertThat(versions.ask("Node daemon of host-7")).as("it is asked once").isFalse();
    versions.ended("Node daemon of host-7");
    versions.answered("Node daemon of host-7", "1.0+bb");
    assertThat(versions.count()).isZero();

    assertThat(versions.ask("Node daemon of host-7")).as("it is there again").isTrue();
    versions.unanswered("Node daemon of host-7");
    assertThat(versions.ask("Node daemon of host-7")).isTrue();
    versions.answered("Node daemon of host-7", "1.0+bb");
    assertThat(versions.count()).isEqualTo(1);
  }

  @Test
  void unknownVersionsAreNotCompared() {
    OtherVersions unknown = new OtherVersions("");
    unknown.found("Executor 1", "1.0+bb");
    versions.found("Executor 2", "");
    assertThat(unknown.count() + versions.count()).isZero();
  }
}
