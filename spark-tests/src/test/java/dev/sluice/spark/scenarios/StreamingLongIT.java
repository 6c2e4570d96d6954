// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.LiveHeap;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A streaming query with state in RocksDB and a shuffle a second. Its executors hold no more at the
 * end than after a quarter of the time: ten minutes, or {@code -Dsluice.streaming.minutes}.
 */
final class StreamingLongIT {
  private static final Duration TIME =
      Duration.ofMinutes(Long.getLong("sluice.streaming.minutes", 10L));
  private static final int KEYS = 1_000;
  private static final int ROWS_OF_BATCH = 20_000;
  private static final long CLEANED_WITHIN_SECONDS = 60;

  /** The shuffles and broadcasts of the last minute, which Spark has not dropped yet. */
  private static final long ALLOWED_HEAP = 8 << 20;

  /** Memory outside of the heap: RocksDB's caches, the JVM's compiled code, buffers. */
  private static final long ALLOWED_RESIDENT = 128 << 20;

  private static final int ALLOWED_THREADS = 10;
  private static final int ALLOWED_FILES = 50;

  /** Spark's pool that drops shuffles and broadcasts; it has up to 128 threads for a minute. */
  private static final String CLEANING_THREADS = "block-manager-storage-async-thread-pool";

  @TempDir private Path dir;

  /**
   * Memory, threads and open files of an executor.
   *
   * @param threads numbers of threads by their names without digits
   */
  record Level(
      String executor, long heapBytes, long residentBytes, Map<String, Long> threads, int files)
      implements Serializable {
    static Level now() {
      long heap = LiveHeap.bytes();
      try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
        return new Level(
            SparkEnv.get().executorId(), heap, resident(), threadNames(), (int) files.count());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static Map<String, Long> threadNames() {
      return Thread.getAllStackTraces().keySet().stream()
          .map(thread -> thread.getName().replaceAll("\\d+", ""))
          .filter(name -> !name.startsWith(CLEANING_THREADS))
          .collect(Collectors.groupingBy(name -> name, TreeMap::new, Collectors.counting()));
    }

    private long threadCount() {
      return threads.values().stream().mapToLong(Long::longValue).sum();
    }

    private static long resident() throws IOException {
      try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
        String kilobytes =
            lines.filter(line -> line.startsWith("VmRSS:")).findFirst().orElseThrow();
        return Long.parseLong(kilobytes.replaceAll("\\D", "")) << 10;
      }
    }
  }

  /** The state of the query's last batch. For the thread of the query, and then for the test's. */
  private static final class Batches {
    final CountDownLatch ended = new CountDownLatch(1);
    Map<Long, Long> counts;
    long last;
    Map<String, Level> first;
  }

  @Test
  void executorsOfAStreamingQueryHoldNoMoreAtItsEnd() throws Exception {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.sql.shuffle.partitions", "4",
            "spark.cleaner.periodicGC.interval", CLEANED_WITHIN_SECONDS + "s",
            "spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")) {
      long start = System.nanoTime();
      Batches batches = new Batches();
      StreamingQuery query =
          counts(cluster)
              .writeStream()
              .outputMode("complete")
              .option("checkpointLocation", dir.resolve("checkpoint").toString())
              .trigger(Trigger.ProcessingTime("1 second"))
              .foreachBatch(
                  (Dataset<Row> batch, Long id) -> {
                    batches.counts = longs(batch);
                    batches.last = id;
                    Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
                    if (batches.first == null && elapsed.compareTo(TIME.dividedBy(4)) >= 0) {
                      batches.first = levels(cluster);
                    }
                    if (elapsed.compareTo(TIME) >= 0) {
                      batches.ended.countDown();
                      // Until the query is stopped, so that no batch follows.
                      TimeUnit.DAYS.sleep(1);
                    }
                  })
              .start();
      try {
        while (!batches.ended.await(1, TimeUnit.SECONDS)) {
          assertThat(query.exception().isEmpty()).as("%s", query.exception()).isTrue();
          assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIME.multipliedBy(2));
        }
        long expected = (batches.last + 1) * (ROWS_OF_BATCH / KEYS);
        assertThat(batches.counts)
            .hasSize(KEYS)
            .allSatisfy((key, n) -> assertThat(n).isEqualTo(expected));
        assertLevels(batches.first, levels(cluster));
        PathAssert.allRead(cluster);
        long batchesUntilCleaned = 2 * CLEANED_WITHIN_SECONDS;
        assertThat(cluster.totals().of("registry.registered-outputs"))
            .isLessThan(4 * batchesUntilCleaned);
      } finally {
        query.stop();
      }
    }
  }

  private static Dataset<Row> counts(LocalCluster cluster) {
    return cluster
        .session()
        .readStream()
        .format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_OF_BATCH)
        .option("numPartitions", 4)
        .load()
        .selectExpr("value %% %d AS k".formatted(KEYS))
        .groupBy("k")
        .count();
  }

  /** The levels of both executors. A task takes a while, so that each executor gets some. */
  private static Map<String, Level> levels(LocalCluster cluster) {
    System.gc(); // the driver then has executors drop shuffles that nothing refers to
    List<Integer> tasks = new ArrayList<>(IntStream.range(0, 8).boxed().toList());
    List<Level> levels =
        cluster
            .context()
            .parallelize(tasks, tasks.size())
            .map(
                _ -> {
                  TimeUnit.MILLISECONDS.sleep(300);
                  return Level.now();
                })
            .collect();
    Map<String, Level> last =
        levels.stream()
            .collect(Collectors.toMap(Level::executor, level -> level, (_, later) -> later));
    assertThat(last).hasSize(2);
    return last;
  }

  private static void assertLevels(Map<String, Level> first, Map<String, Level> last) {
    assertThat(last.keySet()).isEqualTo(first.keySet());
    last.forEach(
        (executor, level) -> {
          Level before = first.get(executor);
          assertThat(level.heapBytes()).as("heap").isLessThan(before.heapBytes() + ALLOWED_HEAP);
          assertThat(level.residentBytes())
              .as("resident memory")
              .isLessThan(before.residentBytes() + ALLOWED_RESIDENT);
          assertThat(level.threadCount())
              .as("threads %s, before %s", level.threads(), before.threads())
              .isLessThan(before.threadCount() + ALLOWED_THREADS);
          assertThat(level.files()).as("open files").isLessThan(before.files() + ALLOWED_FILES);
        });
  }

  private static Map<Long, Long> longs(Dataset<Row> keysAndCounts) {
    Map<Long, Long> counts = new TreeMap<>();
    keysAndCounts.collectAsList().forEach(row -> counts.put(row.getLong(0), row.getLong(1)));
    return counts;
  }
}
