// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Iceberg and Delta in an application with Sluice. */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class OtherEnginesLongIT {
  private static final int ROWS = 20_000;
  private static final int FILES = OtherEngine.PARTITIONS;

  /** A third of the matching rows are deleted, two thirds are updated, and 5,000 are inserted. */
  private static final String MERGE =
      """
      MERGE INTO %s t
      USING (SELECT id * 2 AS id, id AS v FROM range(0, 15000, 1, 4)) s
      ON t.id = s.id
      WHEN MATCHED AND s.v %% 3 = 0 THEN DELETE
      WHEN MATCHED THEN UPDATE SET v = s.v
      WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)
      """;

  private static final int DELETED = 3_334;
  private static final int INSERTED = 5_000;

  @TempDir private Path dir;

  @Test
  void shufflesOfIcebergsMergeAndCompactionAreRead() throws IOException {
    assertMergeAndCompaction(
        "iceberg",
        Map.of(
            "spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.spark_catalog",
            "org.apache.iceberg.spark.SparkSessionCatalog",
            "spark.sql.catalog.spark_catalog.type",
            "hadoop",
            "spark.sql.catalog.spark_catalog.warehouse",
            dir.resolve("tables").toUri().toString(),
            // Its Arrow does not start on JDK 25.
            "spark.sql.iceberg.vectorization.enabled",
            "false"),
        "CALL spark_catalog.system.rewrite_data_files(table => 't', strategy => 'sort',"
            + " sort_order => 'id', options => map('rewrite-all', 'true'))");
  }

  @Test
  void shufflesOfDeltasMergeAndCompactionAreRead() throws IOException {
    assertMergeAndCompaction(
        "delta",
        Map.of(
            "spark.sql.extensions",
            "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog",
            "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.databricks.delta.snapshotPartitions",
            "2"),
        "OPTIMIZE t ZORDER BY (id)");
  }

  private void assertMergeAndCompaction(
      String engine, Map<String, String> settings, String compaction) throws IOException {
    List<Row> sums =
        OtherEngine.run(
            engine, dir, settings, cluster -> mergeAndCompact(cluster, engine, compaction));
    long values = LongStream.range(0, 15_000).filter(v -> v >= 10_000 || v % 3 != 0).sum();
    assertThat(sums).containsExactly(RowFactory.create((long) ROWS - DELETED + INSERTED, values));
  }

  private static List<Row> mergeAndCompact(LocalCluster cluster, String format, String compaction) {
    run(
        cluster,
        "CREATE TABLE t USING %s AS SELECT id, 0L AS v FROM range(0, %d, 1, %d)"
            .formatted(format, ROWS, FILES));
    assertRead(cluster, MERGE.formatted("t"));
    assertThat(files(cluster)).isGreaterThan(1);
    assertRead(cluster, compaction);
    assertThat(files(cluster)).isEqualTo(1);
    return run(cluster, "SELECT count(*), sum(v) FROM t");
  }

  private static long files(LocalCluster cluster) {
    return run(cluster, "SELECT count(DISTINCT f) FROM (SELECT input_file_name() AS f FROM t)")
        .getFirst()
        .getLong(0);
  }

  private static List<Row> run(LocalCluster cluster, String sql) {
    return cluster.session().sql(sql).collectAsList();
  }

  /** Asserts that the statement has remote blocks, and that all of them are READ. */
  private static void assertRead(LocalCluster cluster, String sql) {
    long before = cluster.metrics().remoteBlocks();
    run(cluster, sql);
    assertThat(cluster.metrics().remoteBlocks()).as(sql).isGreaterThan(before);
    PathAssert.allRead(cluster);
  }
}
