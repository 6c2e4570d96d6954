// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.conf.SluiceConf;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ExecutorResourceRequests;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;
import org.apache.spark.util.TaskCompletionListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Stages that Spark schedules differently: barrier stages, and those with their own executors. */
final class StageFeaturesIT {
  private static final long MIB = 1L << 20;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  @Test
  void aBarrierStageThatFailsIsRunAgain(@TempDir Path directory) {
    KnownShuffle data = KnownShuffle.SMALL;
    try (LocalCluster cluster = LocalCluster.start()) {
      FailingOnce once = new FailingOnce(directory.toString());
      RDD<Tuple2<Integer, byte[]>> passed =
          data.repartitioned(cluster.context(), 2)
              .rdd()
              .barrier()
              .mapPartitions(once, false, tag(Tuple2.class));
      JavaPairRDD<Integer, byte[]> again =
          JavaPairRDD.<Integer, byte[]>fromRDD(passed, tag(Integer.class), tag(byte[].class))
              .partitionBy(new HashPartitioner(4));
      assertThat(KnownShuffle.answerOf(again)).isEqualTo(data.answer());
      assertThat(directory.resolve("failed")).exists();
      Totals totals = cluster.totals();
      assertThat(totals.read()).isPositive();
      assertThat(totals.fallbackByReason()).isEmpty();
    }
  }

  @Test
  void theMemoryOfAnExecutorIsAShareOfItsOwnOverhead() {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.master",
            "local-cluster[2,2,2048]",
            "spark.cores.max",
            "4",
            "spark.executor.cores",
            "1",
            "spark.executor.memory",
            "512m",
            "spark.executor.memoryOverheadFactor",
            "1.0",
            "spark.scheduler.minRegisteredResourcesRatio",
            "0",
            "spark.dynamicAllocation.enabled",
            "true",
            "spark.dynamicAllocation.initialExecutors",
            "1",
            "spark.dynamicAllocation.executorIdleTimeout",
            "2s",
            LocalCluster.REMOVE_DELAY,
            "0")) {
      JavaSparkContext context = cluster.context();
      ResourceProfile largerHeap = profile(new ExecutorResourceRequests().memory("640m"));
      ResourceProfile lessOverhead =
          profile(new ExecutorResourceRequests().memory("512m").memoryOverhead("256m"));
      assertThat(context.parallelize(List.of(1), 1).map(_ -> budget()).first())
          .isEqualTo(256 * MIB);
      assertThat(budgetOf(context, largerHeap)).isEqualTo(256 * MIB);
      assertThat(budgetOf(context, lessOverhead)).isEqualTo(128 * MIB);
    }
  }

  private static ResourceProfile profile(ExecutorResourceRequests executor) {
    return new ResourceProfileBuilder()
        .require(executor.cores(1))
        .require(new TaskResourceRequests().cpus(1))
        .build();
  }

  private static long budgetOf(JavaSparkContext context, ResourceProfile profile) {
    return context.parallelize(List.of(1), 1).map(_ -> budget()).withResources(profile).first();
  }

  private static long budget() {
    SluiceConf conf = new SluiceConf(SparkEnv.get().conf());
    return conf.registrationMaxBytes() + conf.buffersMaxBytes() + conf.stagingMaxBytes();
  }

  @SuppressWarnings("unchecked") // as Spark's Java API does
  private static <T> ClassTag<T> tag(Class<?> type) {
    return (ClassTag<T>) ClassTag$.MODULE$.apply(type);
  }

  /**
   * Passes the input of both tasks on. The first time, task 0 fails at its end, after task 1 has
   * written its map output.
   *
   * @param directory where the tasks leave marker files
   */
  private record FailingOnce(String directory)
      implements Function1<Iterator<Tuple2<Integer, byte[]>>, Iterator<Tuple2<Integer, byte[]>>>,
          Serializable {
    @Override
    public Iterator<Tuple2<Integer, byte[]>> apply(Iterator<Tuple2<Integer, byte[]>> records) {
      BarrierTaskContext task = BarrierTaskContext.get();
      task.barrier();
      Path written = Path.of(directory, "written");
      if (task.partitionId() == 1) {
        task.addTaskCompletionListener((TaskCompletionListener) _ -> create(written));
      } else if (create(Path.of(directory, "failed"))) {
        records.foreach(_ -> null);
        await(written);
        throw new IllegalStateException("fails once");
      }
      return records;
    }

    private static boolean create(Path file) {
      try {
        Files.createFile(file);
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void await(Path file) {
      long deadline = System.nanoTime() + TIMEOUT.toNanos();
      try {
        while (Files.notExists(file) && System.nanoTime() - deadline < 0) {
          TimeUnit.MILLISECONDS.sleep(10);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
