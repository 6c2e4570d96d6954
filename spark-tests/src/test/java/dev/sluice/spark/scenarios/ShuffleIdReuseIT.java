// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

/**
 * SQL can remove a query's shuffle files at its end. The query, run again, writes them again under
 * the same shuffle ids. No task may READ the former files.
 */
final class ShuffleIdReuseIT {
  private static final String CLEANUP = "spark.sql.classic.shuffleDependency.fileCleanup.enabled";
  private static final int RUNS = 3;

  @Test
  void aQueryRunAgainReadsItsNewMapOutputs() {
    try (LocalCluster cluster =
        LocalCluster.start(
            CLEANUP,
            "true",
            "spark.sql.adaptive.enabled",
            "false",
            "spark.sql.shuffle.partitions",
            "10",
            "spark.default.parallelism",
            "6")) {
      assumeThat(cluster.session().conf().isModifiable(CLEANUP))
          .as("Spark 4.0 removes shuffles only for sessions of Spark Connect")
          .isTrue();
      Dataset<Row> query =
          cluster.session().range(10_000).selectExpr("id % 7 AS k").groupBy("k").count();
      assertThat(countsByKey(query)).isEqualTo(expectedCounts());
      int nextId = cluster.session().sparkContext().newShuffleId();
      for (int run = 0; run < RUNS; run++) {
        assertThat(tracker().shuffleStatuses().isEmpty()).as("shuffles are removed").isTrue();
        assertThat(countsByKey(query)).isEqualTo(expectedCounts());
      }
      assertThat(cluster.session().sparkContext().newShuffleId())
          .as("no run took a new shuffle id")
          .isEqualTo(nextId + 1);
      PathAssert.allRead(cluster);
    }
  }

  private static Map<Long, Long> countsByKey(Dataset<Row> query) {
    return query.collectAsList().stream()
        .collect(Collectors.toMap(row -> row.getLong(0), row -> row.getLong(1)));
  }

  private static Map<Long, Long> expectedCounts() {
    return LongStream.range(0, 10_000)
        .boxed()
        .collect(Collectors.groupingBy(id -> id % 7, Collectors.counting()));
  }

  private static MapOutputTrackerMaster tracker() {
    return (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
  }
}
