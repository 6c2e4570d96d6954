package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import java.net.Socket;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;

/** What the configuration forbids is not done, and what it asks for in vain is said. */
final class LimitsIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;

  @Test
  void withoutRoomForMapOutputsEveryBlockIsStagedAndRead() {
    try (LocalCluster cluster = start("spark.shuffle.rdma.registration.maxBytes", "0")) {
      shuffle(cluster);
      PathAssert.allStaged(cluster);
    }
  }

  @Test
  void switchedOffItIsSparksOwnShuffle() {
    try (LocalCluster cluster = start("spark.shuffle.rdma.provider", "off")) {
      shuffle(cluster);
      assertThat(ManagerTotals.of(SparkEnv.get().shuffleManager())).isEqualTo(Totals.NONE);
    }
  }

  @Test
  void executorsListenOnThePortsThatAreAskedForAndThoseAboveThem() throws Exception {
    String[] ports = {"spark.shuffle.rdma.port", "27390", "spark.shuffle.rdma.dataPort", "27490"};
    try (LocalCluster cluster = LocalCluster.start(ports)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      for (int port : new int[] {27390, 27391, 27490, 27491}) {
        new Socket("127.0.0.1", port).close();
      }
    }
  }

  @Test
  void verbsWithoutADeviceEndTheApplicationWithTheReason() {
    assertThatThrownBy(
            () -> {
              try (LocalCluster cluster = start("spark.shuffle.rdma.provider", "verbs")) {
                shuffle(cluster);
              }
            })
        .hasStackTraceContaining("verbs");
  }

  @Test
  void anUnknownKeyIsNamedBeforeExecutorsStart() {
    assertThatThrownBy(() -> start("spark.shuffle.rdma.provder", "soft"))
        .hasStackTraceContaining("spark.shuffle.rdma.provder")
        .hasStackTraceContaining("spark.shuffle.rdma.provider");
  }

  @Test
  void aWrongValueIsNamedWithWhatIsAllowed() {
    assertThatThrownBy(() -> start("spark.shuffle.rdma.provider", "rocket"))
        .hasStackTraceContaining("rocket")
        .hasStackTraceContaining("soft");
  }

  private static LocalCluster start(String key, String value) {
    return LocalCluster.start(key, value);
  }

  private static void shuffle(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }
}
