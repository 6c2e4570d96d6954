// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application in one JVM has all blocks at hand; a test can have it READ them all the same. */
final class LocalModeIT {
  @ParameterizedTest(name = "loopback {0}")
  @ValueSource(booleans = {false, true})
  void shufflesInOneJvm(boolean loopback) {
    KnownShuffle data = KnownShuffle.SMALL;
    try (LocalCluster local =
        LocalCluster.start(
            "spark.master",
            "local[*]",
            "spark.shuffle.rdma.testing.loopback",
            Boolean.toString(loopback))) {
      assertThat(KnownShuffle.answerOf(data.repartitioned(local.context(), 8)))
          .isEqualTo(data.answer());
      assertThat(local.totals().fallbackByReason()).isEmpty();
      assertThat(local.totals().read() > 0).isEqualTo(loopback);
      assertThat(local.totals().local() > 0).isEqualTo(!loopback);
    }
  }
}
