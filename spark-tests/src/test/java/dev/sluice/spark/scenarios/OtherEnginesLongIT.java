// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.package$;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Released jars of other projects in an application with Sluice. Each jar is for one version of
 * Spark, and the build's profiles name it. With another version its test is skipped.
 */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class OtherEnginesLongIT {
  private static final Path JARS =
      Path.of(System.getProperty("sluice.target")).resolve("other-engines");
  private static final int ROWS = 20_000;
  private static final int FILES = 8;
  private static final int KEYS = 100;

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

  /** Rows of Comet's operators go through Spark's exchanges. */
  @Test
  void exchangesBetweenCometsOperatorsAreRead() throws IOException {
    List<Row> sums =
        run(
            "comet",
            Map.of(
                "spark.plugins",
                "org.apache.spark.CometPlugin",
                "spark.comet.exec.shuffle.enabled",
                "false",
                "spark.memory.offHeap.enabled",
                "true",
                "spark.memory.offHeap.size",
                "512m"),
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
    Map<Long, Long> expected =
        LongStream.range(0, ROWS)
            .boxed()
            .collect(Collectors.groupingBy(id -> id % KEYS, Collectors.summingLong(id -> 3 * id)));
    assertThat(sums)
        .hasSize(KEYS)
        .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(expected.get(row.getLong(0))));
  }

  private Dataset<Row> joined(LocalCluster cluster) {
    SparkSession session = cluster.session();
    String table = dir.resolve("numbers").toString();
    session
        .range(0, ROWS, 1, FILES)
        .selectExpr("id", "id %% %d AS k".formatted(KEYS))
        .write()
        .parquet(table);
    Dataset<Row> numbers = session.read().parquet(table);
    return numbers.join(numbers.selectExpr("id", "id * 3 AS v"), "id").groupBy("k").sum("v");
  }

  private void assertMergeAndCompaction(
      String engine, Map<String, String> settings, String compaction) throws IOException {
    List<Row> sums = run(engine, settings, cluster -> mergeAndCompact(cluster, engine, compaction));
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

  /** Runs work in an application that adds the engine's jars, as spark-submit does. */
  private List<Row> run(
      String engine, Map<String, String> settings, Function<LocalCluster, List<Row>> work)
      throws IOException {
    List<Path> jars = jars(engine);
    Map<String, String> all = new HashMap<>(settings);
    all.put("spark.jars", jars.stream().map(Path::toString).collect(Collectors.joining(",")));
    all.put("spark.sql.warehouse.dir", dir.resolve("tables").toUri().toString());
    all.put("spark.sql.autoBroadcastJoinThreshold", "-1");
    all.put("spark.sql.shuffle.partitions", Integer.toString(FILES));
    all.put("spark.sql.adaptive.coalescePartitions.enabled", "false");

    Thread driver = Thread.currentThread();
    ClassLoader loader = driver.getContextClassLoader();
    try (URLClassLoader added = new URLClassLoader(urls(jars), loader)) {
      driver.setContextClassLoader(added);
      try (LocalCluster cluster = LocalCluster.start(alternating(all))) {
        List<Row> rows = work.apply(cluster);
        assertThat(cluster.executors()).hasSize(2);
        return rows;
      }
    } finally {
      driver.setContextClassLoader(loader);
    }
  }

  private static List<Path> jars(String engine) throws IOException {
    Path folder = JARS.resolve(engine);
    assumeTrue(
        Files.isDirectory(folder),
        "the build has no %s for Spark %s".formatted(engine, package$.MODULE$.SPARK_VERSION()));
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static URL[] urls(List<Path> jars) throws IOException {
    URL[] urls = new URL[jars.size()];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = jars.get(i).toUri().toURL();
    }
    return urls;
  }

  private static String[] alternating(Map<String, String> settings) {
    return settings.entrySet().stream()
        .flatMap(setting -> Stream.of(setting.getKey(), setting.getValue()))
        .toArray(String[]::new);
  }
}
