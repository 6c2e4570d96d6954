// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;

/**
 * Sluice does nothing that the configuration forbids, and reports each setting that it cannot
 * follow.
 */
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

  /** A wait that ended by time would be a fallback. */
  @Test
  void withTheSmallestPoolNoWaitOfACogroupEndsByTime() {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.master", "local-cluster[2,4,1024]",
            "spark.executor.cores", "4",
            "spark.cores.max", "8",
            "spark.shuffle.rdma.buffers.maxBytes", "1m",
            "spark.shuffle.rdma.buffers.waitTimeout", "5min",
            "spark.shuffle.rdma.read.timeout", "5min")) {
      List<KnownShuffle> three =
          List.of(
              new KnownShuffle(16, 500, 400, 100),
              new KnownShuffle(16, 500, 400, 1_000),
              new KnownShuffle(4, 2_000, 400, 2_000));
      assertThat(cogrouped(cluster.context(), three)).isEqualTo(answer(three));
      PathAssert.allRead(cluster);
      Totals totals = cluster.totals();
      assertThat(totals.of("transfer.buffer-waits")).isPositive();
      assertThat(totals.of("transfer.buffers-denied")).isZero();
      assertThat(totals.of("transfer.reads-deadline")).isZero();
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
  void aWrongValueIsNamedWithTheAllowedOnes() {
    assertThatThrownBy(() -> start("spark.shuffle.rdma.provider", "rocket"))
        .hasStackTraceContaining("rocket")
        .hasStackTraceContaining("soft");
  }

  private static Map<Integer, Long> cogrouped(JavaSparkContext context, List<KnownShuffle> three) {
    return new TreeMap<>(
        three
            .get(0)
            .input(context)
            .cogroup(three.get(1).input(context), three.get(2).input(context), PARTITIONS)
            .mapValues(values -> checksum(values._1(), values._2(), values._3()))
            .collectAsMap());
  }

  private static long checksum(
      Iterable<byte[]> first, Iterable<byte[]> second, Iterable<byte[]> third) {
    return Stream.of(first, second, third)
        .flatMap(values -> StreamSupport.stream(values.spliterator(), false))
        .mapToLong(KnownShuffle::checksum)
        .sum();
  }

  private static Map<Integer, Long> answer(List<KnownShuffle> shuffles) {
    Map<Integer, Long> sum = new TreeMap<>();
    shuffles.forEach(data -> data.answer().forEach((key, n) -> sum.merge(key, n, Long::sum)));
    return sum;
  }

  private static LocalCluster start(String key, String value) {
    return LocalCluster.start(key, value);
  }

  private static void shuffle(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }
}
