// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.account.Totals;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * DataFusion Comet in an application with Sluice: with Sluice's usual manager and without Comet's
 * shuffle, and with the manager of {@code examples/comet}.
 */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class CometLongIT {
  private static final int ROWS = 20_000;
  private static final int KEYS = 100;

  @TempDir private Path dir;

  /** Rows of Comet's operators go through Spark's exchanges. */
  @Test
  void exchangesBetweenCometsOperatorsAreRead() throws IOException {
    assertSums(
        Map.of("spark.comet.exec.shuffle.enabled", "false"),
        cluster -> {
          Dataset<Row> query = joined(cluster);
          List<Row> answer = query.collectAsList();
          assertThat(query.queryExecution().executedPlan().toString())
              .contains("CometNativeScan", "CometProject", " Exchange hashpartitioning")
              .doesNotContain("CometExchange", "CometColumnarExchange");
          assertThat(cluster.metrics().remoteBlocks()).isPositive();
          PathAssert.allRead(cluster);
          return answer;
        });
  }

  /**
   * Comet's native operators take the bytes of blocks ("direct") or batches. It encrypts columnar
   * exchanges. A shuffle of an RDD goes by the same manager.
   */
  @ParameterizedTest
  @CsvSource({
    "native, CometExchange, true, false",
    "native, CometExchange, false, false",
    "jvm, CometColumnarExchange, true, false",
    "jvm, CometColumnarExchange, false, true"
  })
  void cometsExchangesAreReadByTheManagerForComet(
      String mode, String exchange, String direct, String encrypted) throws IOException {
    assertSums(
        managerForComet(mode, direct, encrypted),
        cluster -> {
          List<Row> answer = byExchange(cluster, exchange);
          shuffleAnRdd(cluster);
          PathAssert.allRead(cluster, settled(cluster.metrics().remoteBlocks()));
          return answer;
        });
  }

  /** Comet writes them in the clear, and Sluice would take them for encrypted. */
  @Test
  void nativeExchangesAreNotReadWhereFilesAreToBeEncrypted() throws IOException {
    assertSums(
        managerForComet("native", "true", "true"),
        cluster -> {
          List<Row> answer = byExchange(cluster, "CometExchange");
          long ofQuery = cluster.metrics().remoteBlocks();
          assertThat(ofQuery).isPositive();
          shuffleAnRdd(cluster);
          long ofRdd = cluster.metrics().remoteBlocks() - ofQuery;
          assertThat(settled(ofRdd).read()).isPositive().isEqualTo(ofRdd);
          return answer;
        });
  }

  private static Map<String, String> managerForComet(String mode, String direct, String encrypted) {
    return Map.of(
        "spark.shuffle.manager",
        "dev.sluice.spark.comet.CometRdmaShuffleManager",
        "spark.comet.shuffle.mode",
        mode,
        "spark.comet.shuffle.directRead.enabled",
        direct,
        "spark.io.encryption.enabled",
        encrypted);
  }

  private List<Row> byExchange(LocalCluster cluster, String exchange) {
    Dataset<Row> query = joined(cluster);
    List<Row> answer = query.collectAsList();
    assertThat(query.queryExecution().executedPlan().toString())
        .contains(exchange + " hashpartitioning")
        .doesNotContain(" Exchange hashpartitioning");
    return answer;
  }

  private static void shuffleAnRdd(LocalCluster cluster) {
    KnownShuffle data = KnownShuffle.SMALL;
    assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), OtherEngine.PARTITIONS)))
        .isEqualTo(data.answer());
  }

  private static Totals settled(long remoteBlocks) {
    return ManagerTotals.settled(CometLongIT::counters, remoteBlocks);
  }

  /** Returns the counters of the manager for Comet. Its class is not on the class path of tests. */
  @SuppressWarnings("unchecked") // The method has this type.
  private static Map<String, Long> counters() {
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    try {
      return (Map<String, Long>) manager.getClass().getMethod("totals").invoke(manager);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Runs the query of {@link #joined} in an application with Comet, and compares its answer.
   *
   * @param settings other settings than those that Comet always needs
   */
  private void assertSums(Map<String, String> settings, Function<LocalCluster, List<Row>> query)
      throws IOException {
    Map<String, String> all = new HashMap<>(settings);
    all.put("spark.plugins", "org.apache.spark.CometPlugin");
    all.put("spark.memory.offHeap.enabled", "true");
    all.put("spark.memory.offHeap.size", "512m");
    Map<Long, Long> expected =
        LongStream.range(0, ROWS)
            .boxed()
            .collect(Collectors.groupingBy(id -> id % KEYS, Collectors.summingLong(id -> 3 * id)));
    assertThat(OtherEngine.run("comet", dir, all, query))
        .hasSize(KEYS)
        .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(expected.get(row.getLong(0))));
  }

  private Dataset<Row> joined(LocalCluster cluster) {
    SparkSession session = cluster.session();
    String table = dir.resolve("numbers").toString();
    session
        .range(0, ROWS, 1, OtherEngine.PARTITIONS)
        .selectExpr("id", "id %% %d AS k".formatted(KEYS))
        .write()
        .parquet(table);
    Dataset<Row> numbers = session.read().parquet(table);
    return numbers.join(numbers.selectExpr("id", "id * 3 AS v"), "id").groupBy("k").sum("v");
  }
}
