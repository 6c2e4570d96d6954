// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connect.service.SparkConnectService$;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ways to use Spark that are more than one batch job after the other. */
final class ModesIT {
  private static final int KEYS = 7;
  private static final int FILES = 4;
  private static final int LINES = 500;
  private static final int SESSIONS = 4;
  private static final int QUERIES = 3;
  private static final long ROWS = 5_000;
  private static final long TIMEOUT_MS = 120_000;

  @TempDir private Path dir;

  @Test
  void aStreamingQueryReadsTheShufflesOfItsBatches() throws Exception {
    try (LocalCluster cluster = LocalCluster.start("spark.sql.shuffle.partitions", "4")) {
      Path input = Files.createDirectories(dir.resolve("input"));
      for (int file = 0; file < FILES; file++) {
        Files.write(input.resolve(file + ".csv"), lines(file));
      }
      Dataset<Row> counts =
          cluster
              .session()
              .readStream()
              .schema("k INT")
              .option("maxFilesPerTrigger", 1)
              .csv(input.toString())
              .groupBy("k")
              .count();

      StreamingQuery query =
          counts
              .writeStream()
              .outputMode("complete")
              .format("memory")
              .queryName("counts")
              .option("checkpointLocation", dir.resolve("checkpoint").toString())
              .trigger(Trigger.AvailableNow())
              .start();
      assertThat(query.awaitTermination(TIMEOUT_MS)).isTrue();

      assertThat(query.lastProgress().batchId()).isEqualTo(FILES - 1);
      assertThat(longs(cluster.session().table("counts")))
          .isEqualTo(
              IntStream.range(0, FILES * LINES)
                  .boxed()
                  .collect(
                      Collectors.groupingBy(
                          i -> (long) (i % KEYS), TreeMap::new, Collectors.counting())));
      PathAssert.allRead(cluster);
    }
  }

  private static List<String> lines(int file) throws IOException {
    return IntStream.range(file * LINES, (file + 1) * LINES)
        .mapToObj(i -> Integer.toString(i % KEYS))
        .toList();
  }

  @Test
  void sessionsReadTheirShufflesAtTheSameTime() {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.scheduler.mode", "FAIR",
            "spark.default.parallelism", "4",
            "spark.sql.autoBroadcastJoinThreshold", "-1")) {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        SparkSession session = cluster.session().newSession();
        session.conf().set("spark.sql.shuffle.partitions", Integer.toString(3 + i));
        int keys = KEYS + i;
        running.add(CompletableFuture.runAsync(() -> query(session, keys)));
      }
      running.forEach(CompletableFuture::join);
      PathAssert.allRead(cluster);
    }
  }

  private static void query(SparkSession session, int keys) {
    Map<Long, Long> expected =
        LongStream.range(0, ROWS)
            .boxed()
            .collect(Collectors.groupingBy(i -> i % keys, TreeMap::new, Collectors.counting()));
    for (int i = 0; i < QUERIES; i++) {
      Dataset<Row> left = session.range(ROWS).selectExpr("id", "id % " + keys + " AS k");
      Dataset<Row> right = session.range(ROWS).selectExpr("id AS other");
      assertThat(
              longs(
                  left.join(right, left.col("id").equalTo(right.col("other")))
                      .groupBy("k")
                      .count()))
          .isEqualTo(expected);
    }
  }

  @Test
  void aRemoteSessionsShufflesAreRead() {
    Path output = dir.resolve("counts");
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.port", "0",
            "spark.sql.shuffle.partitions", "4")) {
      RemoteSession.run(
          SparkConnectService$.MODULE$.localPort(),
          "INSERT OVERWRITE DIRECTORY '%s' USING parquet".formatted(output)
              + " SELECT id %% %d AS k, count(*) FROM range(0, %d, 1, 4) GROUP BY k"
                  .formatted(KEYS, ROWS));

      assertThat(longs(cluster.session().read().parquet(output.toString())))
          .isEqualTo(
              LongStream.range(0, ROWS)
                  .boxed()
                  .collect(
                      Collectors.groupingBy(i -> i % KEYS, TreeMap::new, Collectors.counting())));
      PathAssert.allRead(cluster);
    }
  }

  private static Map<Long, Long> longs(Dataset<Row> keysAndCounts) {
    Map<Long, Long> counts = new TreeMap<>();
    keysAndCounts
        .collectAsList()
        .forEach(row -> counts.put(((Number) row.get(0)).longValue(), row.getLong(1)));
    return counts;
  }
}
