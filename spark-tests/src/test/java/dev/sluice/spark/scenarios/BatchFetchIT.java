// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.xxhash64;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small blocks are fetched together if possible; the answer is the same either way. */
final class BatchFetchIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final String GATHER = "spark.shuffle.rdma.gather";
  private static final String[] KRYO = {
    "spark.serializer", "org.apache.spark.serializer.KryoSerializer"
  };

  @Test
  void blocksOfKryoRecordsAreGathered() {
    try (LocalCluster cluster = start(KRYO)) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      Totals totals = cluster.totals();
      assertThat(gathered(totals)).isBetween(totals.read(), totals.read() + totals.local());
      assertThat(totals.local()).isEqualTo(cluster.metrics().localBlocks());
    }
  }

  /** Blocks of an executor's own are not gathered: they have no checksums. */
  @ParameterizedTest
  @ValueSource(
      strings = {"spark.io.encryption.enabled=true", "spark.shuffle.checksum.enabled=false"})
  void blocksWithoutChecksumsAreStagedAndGathered(String setting) {
    try (LocalCluster cluster = start(KRYO, setting.split("="))) {
      shuffle(cluster);
      PathAssert.allStaged(cluster);
      assertThat(gathered(cluster.totals())).isEqualTo(cluster.totals().read());
    }
  }

  @Test
  void falsifiedBlocksOfEncryptedFilesAreFoundToo() {
    // Partition tables are shorter.
    String faults = "minLength=2048;corrupt@2";
    try (LocalCluster cluster =
        start(
            KRYO,
            new String[] {
              "spark.shuffle.rdma.soft.faults", faults,
              "spark.shuffle.compress", "false",
              "spark.io.encryption.enabled", "true"
            })) {
      shuffle(cluster);
      PathAssert.allStaged(cluster);
      assertThat(cluster.totals().corruptions()).isPositive();
    }
  }

  @ParameterizedTest
  @CsvSource({"lz4, true", "lz4, false", "zstd, true"})
  void repartitionedRowsAreTheSame(String codec, boolean gather) {
    try (LocalCluster cluster =
        start(
            new String[] {
              GATHER,
              String.valueOf(gather),
              "spark.io.compression.codec",
              codec,
              "spark.sql.adaptive.enabled",
              "false"
            })) {
      Dataset<Row> rows = cluster.session().range(0, 20_000, 1, 16).toDF("v");
      Dataset<Row> moved = rows.repartition(PARTITIONS, col("v"));
      assertThat(moved.count()).isEqualTo(20_000);
      assertThat(hash(moved)).isEqualTo(hash(rows));
      Totals rowsOnly = cluster.totals();
      shuffle(cluster); // by a Java serializer
      PathAssert.allRead(cluster);
      Totals totals = cluster.totals();
      if (gather) {
        assertThat(gathered(rowsOnly)).isPositive();
        assertThat(gathered(totals) - gathered(rowsOnly))
            .isGreaterThanOrEqualTo(totals.read() - rowsOnly.read());
      } else {
        assertThat(gathered(totals)).isZero();
      }
    }
  }

  @Test
  void blocksOfMapOutputsThatFindNoRoomAreGatheredToo() {
    try (LocalCluster cluster =
        start(KRYO, new String[] {"spark.shuffle.rdma.registration.maxBytes", "32k"})) {
      shuffle(cluster, 300); // an executor has room for three tables
      PathAssert.partlyStaged(cluster);
      assertThat(gathered(cluster.totals())).isGreaterThanOrEqualTo(cluster.totals().read());
    }
  }

  private static LocalCluster start(String[]... settings) {
    return LocalCluster.start(Stream.of(settings).flatMap(Stream::of).toArray(String[]::new));
  }

  private static void shuffle(LocalCluster cluster) {
    shuffle(cluster, PARTITIONS);
  }

  private static void shuffle(LocalCluster cluster, int partitions) {
    JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), partitions);
    assertThat(KnownShuffle.answerOf(shuffled.coalesce(PARTITIONS))).isEqualTo(DATA.answer());
  }

  private static long gathered(Totals totals) {
    return totals.of("gathered.blocks");
  }

  /** Whatever the order of the rows. */
  private static Object hash(Dataset<Row> rows) {
    return rows.select(sum(xxhash64(col("v")).cast("decimal(38,0)"))).head().get(0);
  }
}
