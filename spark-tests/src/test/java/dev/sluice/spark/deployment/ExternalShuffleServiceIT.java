// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.deployment.Deployment.Result;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Executors come and go, and Spark's external shuffle service keeps the map outputs. */
final class ExternalShuffleServiceIT {
  @Test
  void blocksOfExecutorsThatHaveLeftComeFromTheService() throws Exception {
    Map<String, String> service = Deployment.service();
    try (Deployment deployment = Deployment.startWithService("external-shuffle-service", service)) {
      Result result = deployment.submitLeaving(service);

      assertThat(result.exitCode()).as(result.end()).isZero();
      assertThat(result.rounds()).hasSize(3).allMatch(Round::right);
      Totals withAll = result.rounds().get(0).totals();
      assertThat(withAll.read()).isPositive();
      assertThat(withAll.fallbackByReason()).isEmpty();
      Totals withOne = result.rounds().get(1).totals();
      assertThat(withOne.read()).isGreaterThan(withAll.read());
      assertThat(withOne.fallbackByReason()).containsOnlyKeys("PEER");
      Totals withNewOnes = result.rounds().get(2).totals();
      assertThat(withNewOnes.read()).isEqualTo(withOne.read());
      assertThat(withNewOnes.fallbackByReason()).containsOnlyKeys("PEER");
      assertThat(withNewOnes.fallback()).isGreaterThan(withOne.fallback());

      // No connection is tried to an executor that has left.
      assertThat(withNewOnes.of("transfer.connect-failures")).isZero();
      assertThat(deployment.work().logs().lines())
          .noneMatch(line -> line.toLowerCase(Locale.ROOT).contains("failed to connect"));
    }
  }
}
