package dev.sluice.spark.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;

/** What the public interface is for: another shuffle manager READs, in its own way. */
final class OwnManagerIT {
  private static final int PARTITIONS = 8;
  private static final long SETTLE_SECONDS = 10;

  @Test
  void anotherManagerReadsByTheClient() throws InterruptedException {
    try (LocalCluster cluster =
        LocalCluster.start("spark.shuffle.manager", OwnShuffleManager.class.getName())) {
      KnownShuffle data = KnownShuffle.SMALL;
      assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(data.answer());

      OwnShuffleManager manager = (OwnShuffleManager) SparkEnv.get().shuffleManager();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS);
      while (new Totals(manager.totals()).read() == 0 && System.nanoTime() - deadline < 0) {
        Thread.sleep(50);
      }
      Totals totals = new Totals(manager.totals());
      assertThat(totals.read()).isPositive();
      assertThat(totals.fallbackByReason()).isEmpty();
    }
  }
}
