// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sluice.verbs.LiveHeap;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/**
 * Tasks that read a shuffle thousands of times hold no more at the end than at the start. Tasks
 * that end before their readers do leave nothing behind.
 */
final class ManyReadersLongIT {
  private static final int MAPS = 20;
  private static final int PARTITIONS = 1_500;

  /**
   * Elements on the left side of the cartesian product; each reads the shuffle once. Between the
   * first level and the last, a task makes as many readers as that of the coalesced partitions.
   */
  private static final int ELEMENTS = 3_000;

  private static final int RIGHT_MAPS = 4;
  private static final int RIGHT_RECORDS = 50;

  /** A reader that leaves 7 KB, as one did, leaves 7 MB in two thirds of a task. */
  private static final long ALLOWED_BYTES = 4 << 20;

  private static final int ALLOWED_THREADS = 10;

  /** The levels of an executor. */
  record Level(long heapBytes, int threads) implements Serializable {
    static Level now() {
      return new Level(LiveHeap.bytes(), ManagementFactory.getThreadMXBean().getThreadCount());
    }
  }

  @Test
  void readersOfCoalescedPartitionsLeaveNothingInTheirTask() {
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaRDD<Tuple2<Integer, Integer>> one =
          JavaRDD.fromRDD(numbers(cluster.context(), MAPS, PARTITIONS, PARTITIONS).rdd(), null);
      List<Level> levels =
          one.coalesce(1, false)
              .mapPartitions(records -> levels(records, (long) MAPS * PARTITIONS))
              .collect();
      assertLevel(levels);
      PathAssert.allRead(cluster);
      assertNoBufferIsInUse(cluster);
    }
  }

  @Test
  void readersOfACartesianProductLeaveNothingInTheirTasks() {
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaPairRDD<Integer, Integer> right =
          numbers(cluster.context(), RIGHT_MAPS, RIGHT_RECORDS, 2);
      List<Integer> elements = IntStream.range(0, ELEMENTS).boxed().toList();
      List<Level> levels =
          cluster
              .context()
              .parallelize(elements, 2)
              .cartesian(right)
              .mapPartitions(
                  pairs -> levels(pairs, (long) ELEMENTS * RIGHT_MAPS * RIGHT_RECORDS / 4))
              .collect();
      for (int task = 0; task < 4; task++) {
        assertLevel(levels.subList(3 * task, 3 * task + 3));
      }
      PathAssert.allRead(cluster);
      assertNoBufferIsInUse(cluster);
    }
  }

  @Test
  void tasksWhoseProgramEndsAtOnceLeaveNothing() {
    try (LocalCluster cluster = LocalCluster.start()) {
      for (int shuffle = 0; shuffle < 10; shuffle++) {
        assertThat(
                KnownShuffle.SMALL
                    .repartitioned(cluster.context(), 200)
                    .coalesce(8, false)
                    .pipe("true")
                    .count())
            .isZero();
      }
      assertNoBufferIsInUse(cluster);
    }
  }

  @Test
  void threadsThatReadOnWhenTheirTaskHasEndedLeaveNothing() {
    try (LocalCluster cluster = LocalCluster.start()) {
      for (int job = 0; job < 6; job++) {
        JavaRDD<Tuple2<Integer, byte[]>> coalesced =
            JavaRDD.fromRDD(KnownShuffle.SMALL.repartitioned(cluster.context(), 200).rdd(), null);
        assertThat(
                coalesced
                    .coalesce(8, false)
                    .mapPartitions(ManyReadersLongIT::firstOfThread)
                    .count())
            .isEqualTo(8);
      }
      assertNoBufferIsInUse(cluster);
    }
  }

  private static JavaPairRDD<Integer, Integer> numbers(
      JavaSparkContext context, int maps, int records, int partitions) {
    List<Integer> mapIndices = IntStream.range(0, maps).boxed().toList();
    return context
        .parallelize(mapIndices, maps)
        .flatMapToPair(
            map -> IntStream.range(0, records).mapToObj(i -> new Tuple2<>(i, map)).iterator())
        .partitionBy(new HashPartitioner(partitions));
  }

  /** The level after a third of the records, after two, and after all. */
  private static Iterator<Level> levels(Iterator<?> records, long expected) {
    List<Level> levels = new ArrayList<>();
    long count = 0;
    while (records.hasNext()) {
      records.next();
      count++;
      if (count % (expected / 3) == 0) {
        levels.add(Level.now());
      }
    }
    assertThat(count).isEqualTo(expected);
    return levels.iterator();
  }

  private static void assertLevel(List<Level> levels) {
    Level first = levels.getFirst();
    Level last = levels.getLast();
    assertThat(last.heapBytes()).as("heap").isLessThan(first.heapBytes() + ALLOWED_BYTES);
    assertThat(last.threads()).as("threads").isLessThan(first.threads() + ALLOWED_THREADS);
  }

  /** The first record, which a thread without a TaskContext reads, as it does all that follow. */
  private static <T> Iterator<T> firstOfThread(Iterator<T> records) throws InterruptedException {
    BlockingQueue<T> read = new ArrayBlockingQueue<>(100_000);
    Thread.ofPlatform()
        .daemon()
        .name("read-ahead")
        .start(
            () -> {
              try {
                while (records.hasNext()) {
                  read.add(records.next());
                }
              } catch (IllegalStateException e) {
                // The task has ended; an exception here would end its executor.
              }
            });
    T first = read.poll(1, TimeUnit.MINUTES);
    return List.of(first).iterator();
  }

  private static void assertNoBufferIsInUse(LocalCluster cluster) {
    assertThatCode(
            () ->
                cluster.awaitTotals(
                    "buffers to be given back",
                    totals -> totals.of("transfer.buffer-bytes-in-use") == 0))
        .doesNotThrowAnyException();
  }
}
