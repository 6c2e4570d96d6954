// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The ways in which adaptive execution reads a shuffle: several partitions, or parts of one. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AdaptiveQueryIT {
  private static final long ROWS = 20_000;
  private static final long KEYS = 50;

  @Parameter boolean gather;
  private LocalCluster cluster;

  @BeforeAll
  void start() {
    cluster =
        LocalCluster.start(
            "spark.shuffle.rdma.gather", String.valueOf(gather),
            "spark.sql.shuffle.partitions", "20",
            "spark.default.parallelism", "6",
            "spark.sql.autoBroadcastJoinThreshold", "-1");
  }

  @AfterAll
  void everyRemoteBlockWasRead() {
    try (LocalCluster ended = cluster) {
      PathAssert.allRead(ended);
      assertThat(ended.totals().of("gathered.blocks") > 0).isEqualTo(gather);
    }
  }

  @Test
  void coalescedPartitionsAreReadInBatches() {
    Dataset<Row> sums = numbers().groupBy("k").sum("v");
    assertThat(sums(sums)).isEqualTo(sumsByKey());
    assertThat(plan(sums)).contains("AQEShuffleRead coalesced");
  }

  @Test
  void splitSkewedPartitionsAreReadByRangesOfMapOutputs() {
    SparkSession session = cluster.session();
    session.conf().set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "2k");
    session.conf().set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", "1.5");
    session.conf().set("spark.sql.adaptive.advisoryPartitionSizeInBytes", "4k");
    try {
      Dataset<Row> skewed =
          session
              .range(ROWS)
              .selectExpr("CASE WHEN id % 4 = 0 THEN id % 50 ELSE 7 END AS k", "id AS v");
      Dataset<Row> names = session.range(KEYS).selectExpr("id AS k", "id * 10 AS n");
      Dataset<Row> joined = skewed.join(names, "k");
      assertThat(joined.count()).isEqualTo(ROWS);
      assertThat(sums(joined.groupBy("k").sum("v")))
          .isEqualTo(sumsOf(id -> id % 4 == 0 ? id % 50 : 7));
      joined.collect();
      assertThat(plan(joined)).contains("skewed");
    } finally {
      session.conf().unset("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes");
      session.conf().unset("spark.sql.adaptive.skewJoin.skewedPartitionFactor");
      session.conf().unset("spark.sql.adaptive.advisoryPartitionSizeInBytes");
    }
  }

  @Test
  void aLocalShuffleReaderReadsWholeMapOutputs() {
    SparkSession session = cluster.session();
    session.conf().set("spark.sql.adaptive.autoBroadcastJoinThreshold", "10m");
    try {
      Dataset<Row> few = numbers().where("v < 10").selectExpr("k", "v AS w");
      Dataset<Row> joined = numbers().join(few, "k");
      long expected = LongStream.range(0, ROWS).filter(id -> id % KEYS < 10).count();
      assertThat(joined.count()).isEqualTo(expected);
      joined.collect();
      assertThat(plan(joined)).contains("AQEShuffleRead local");
    } finally {
      session.conf().unset("spark.sql.adaptive.autoBroadcastJoinThreshold");
    }
  }

  private Dataset<Row> numbers() {
    return cluster.session().range(ROWS).selectExpr("id % " + KEYS + " AS k", "id AS v");
  }

  private static String plan(Dataset<Row> executed) {
    return executed.queryExecution().executedPlan().toString();
  }

  private static Map<Long, Long> sums(Dataset<Row> keysAndSums) {
    Map<Long, Long> sums = new TreeMap<>();
    keysAndSums.collectAsList().forEach(row -> sums.put(row.getLong(0), row.getLong(1)));
    return sums;
  }

  private static Map<Long, Long> sumsByKey() {
    return sumsOf(id -> id % KEYS);
  }

  private static Map<Long, Long> sumsOf(LongUnaryOperator key) {
    Map<Long, Long> sums = new TreeMap<>();
    LongStream.range(0, ROWS).forEach(id -> sums.merge(key.applyAsLong(id), id, Long::sum));
    return sums;
  }
}
