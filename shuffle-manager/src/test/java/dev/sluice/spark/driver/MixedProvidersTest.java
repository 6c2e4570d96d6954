// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import java.util.Map;
import java.util.TreeMap;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;

class MixedProvidersTest {
  private static final Place VERBS = new Place("verbs", "mlx5_0", "10.0.0.1", "host:1", "");
  private static final Place SOFT =
      new Place("soft", "soft0", "10.0.0.2", "host:2", "no RDMA device is active");

  private final MixedProviders mixed = new MixedProviders();

  /** Executors that start one after the other are all counted. */
  @Test
  void oneWarningNamesNumbersReasonAndKey() {
    try (LogCapture log = new LogCapture(MixedProviders.class, Level.WARN)) {
      mixed.look(Map.of("executor 1", VERBS));
      mixed.look(Map.of("executor 1", VERBS, "executor 2", SOFT));
      mixed.look(Map.of("executor 1", VERBS, "executor 2", SOFT, "executor 3", VERBS));
      assertThat(log.messages()).isEmpty();
      mixed.look(Map.of("executor 1", VERBS, "executor 2", SOFT, "executor 3", VERBS));
      mixed.look(Map.of("executor 1", VERBS, "executor 4", SOFT));
      assertThat(log.messages())
          .singleElement()
          .asString()
          .contains("soft: 1, verbs: 2")
          .contains("Executor 2 at host:2 has soft, because no RDMA device is active.")
          .contains("spark.shuffle.rdma.provider=soft gives");
    }
  }

  /** With dynamic allocation the numbers are others at each look. */
  @Test
  void numbersThatNeverStayAreWarnedOf() {
    try (LogCapture log = new LogCapture(MixedProviders.class, Level.WARN)) {
      Map<String, Place> places = new TreeMap<>(Map.of("executor 0", SOFT));
      for (int executor = 1; executor < 10; executor++) {
        places.put("executor " + executor, VERBS);
        mixed.look(places);
      }
      assertThat(log.messages()).isEmpty();
      places.put("executor 10", VERBS);
      mixed.look(places);
      assertThat(log.messages()).singleElement().asString().contains("soft: 1, verbs: 10");
    }
  }

  /** Each block of its node falls back then. */
  @Test
  void aNodeDaemonWithAnotherProviderIsWarnedOf() {
    Place daemon = new Place("soft", "", "", "node:7337", "");
    try (LogCapture log = new LogCapture(MixedProviders.class, Level.WARN)) {
      mixed.look(Map.of("executor 1", VERBS, "node daemon at node:7337", daemon));
      mixed.look(Map.of("executor 1", VERBS, "node daemon at node:7337", daemon));
      assertThat(log.messages()).singleElement().asString().contains("soft: 1, verbs: 1");
    }
  }

  /** All executors on soft would take the adapter from those that have one. */
  @Test
  void oneExecutorThatDoesNotReadIsNoReasonForSoft() {
    Place off = new Place("off", "", "", "host:3", "the start took too long");
    try (LogCapture log = new LogCapture(MixedProviders.class, Level.WARN)) {
      mixed.look(Map.of("executor 1", VERBS, "executor 3", off));
      mixed.look(Map.of("executor 1", VERBS, "executor 3", off));
      assertThat(log.messages())
          .singleElement()
          .asString()
          .contains("Executor 3 at host:3 has off, because the start took too long.")
          .doesNotContain("provider=soft");
    }
  }

  @Test
  void equalProvidersAreNoWarning() {
    try (LogCapture log = new LogCapture(MixedProviders.class, Level.WARN)) {
      mixed.look(Map.of("executor 1", SOFT, "executor 2", SOFT));
      mixed.look(Map.of("executor 1", SOFT, "executor 2", SOFT));
      assertThat(log.messages()).isEmpty();
    }
  }
}
