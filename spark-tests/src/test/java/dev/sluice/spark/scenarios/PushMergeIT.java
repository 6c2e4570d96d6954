// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.cluster.UnusedPort;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;

/** Spark's push-based shuffle (SPARK-30602): its service merges blocks before they are read. */
final class PushMergeIT {
  private static final int PARTITIONS = 8;

  @Test
  void unmergedBlocksAreRead() throws Exception {
    String port = Integer.toString(UnusedPort.find());
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.master", MergingCluster.MASTER,
            "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
            "spark.shuffle.service.enabled", "true",
            "spark.shuffle.service.port", port,
            // The service knows no executor that stands for another.
            "spark.shuffle.rdma.testing.loopback", "false",
            "spark.shuffle.push.enabled", "true",
            // About half of the blocks are larger, and are not pushed.
            "spark.shuffle.push.maxBlockSizeToPush", "5200b",
            // Otherwise all tasks would run where the merged blocks are.
            "spark.locality.wait", "0",
            // Otherwise the stage would not wait for merging.
            "spark.shuffle.push.minShuffleSizeToWait", "1b",
            "spark.shuffle.push.finalize.timeout", "3s")) {
      MergedReads merged = new MergedReads();
      cluster.context().sc().addSparkListener(merged);
      JavaPairRDD<Integer, byte[]> shuffled =
          KnownShuffle.SMALL.repartitioned(cluster.context(), PARTITIONS);

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());

      Totals totals = cluster.totals();
      assertThat(merged.onDisk).hasPositiveValue();
      assertThat(merged.byChunk).hasPositiveValue();
      assertThat(totals.read()).isPositive();
      assertThat(totals.fallbackByReason()).containsOnlyKeys("BLOCK_KIND");
      // Each block arrived once, by any path; merged ones on disk count as local.
      assertThat(totals.read() + totals.local() + merged.byChunk.get())
          .isEqualTo(KnownShuffle.SMALL.maps() * PARTITIONS);
    }
  }

  /** Sums of the tasks' metrics; called on Spark's listener thread. */
  private static final class MergedReads extends SparkListener {
    final AtomicLong onDisk = new AtomicLong();
    final AtomicLong byChunk = new AtomicLong();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      var read = end.taskMetrics().shuffleReadMetrics();
      onDisk.addAndGet(read.localMergedBlocksFetched());
      byChunk.addAndGet(read.remoteMergedBlocksFetched());
    }
  }
}
