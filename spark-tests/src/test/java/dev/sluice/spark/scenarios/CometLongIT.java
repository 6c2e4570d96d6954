// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** DataFusion Comet without its shuffle in an application with Sluice. */
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
