// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.metrics.ApplicationSummary;
import dev.sluice.spark.metrics.ApplicationTotals;
import dev.sluice.spark.metrics.ExecutorStates;
import dev.sluice.spark.ui.SluiceUpdate;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.junit.jupiter.api.Test;
import scala.jdk.javaapi.CollectionConverters;

class UiFeedTest {
  private static final long START = 1_000_000;

  private final ApplicationTotals totals = new ApplicationTotals();
  private final ExecutorStates states = new ExecutorStates();
  private long nowMs = START;
  private final UiFeed feed = new UiFeed(totals, states, Map::of, () -> nowMs);

  private void report(String executorId, long sequence, long bytes) {
    Report report = new Report(executorId, sequence, "soft soft0", Map.of("read.bytes", bytes));
    totals.accept(report);
    states.accept(report);
  }

  private List<SluiceUpdate> nextAfter(long seconds) {
    nowMs += 1_000 * seconds;
    return feed.next(false);
  }

  @Test
  void anUpdateComesOnlyAfterAChange() {
    assertThat(nextAfter(1)).isEmpty();
    report("1", 1, 100);
    assertThat(nextAfter(1))
        .singleElement()
        .matches(update -> update.time() == START + 2_000)
        .matches(update -> update.unchangedUntil() == START + 1_000)
        .matches(update -> update.bytes().equals(new Bytes(100, 0, 0, 0)))
        .matches(update -> update.executors().size() == 1);
    assertThat(nextAfter(1)).isEmpty();
    assertThat(nextAfter(60)).isEmpty();
    report("1", 2, 150);
    assertThat(nextAfter(1))
        .singleElement()
        .matches(update -> update.unchangedUntil() == START + 63_000);
  }

  /** Otherwise a thousand executors would fill the event log. */
  @Test
  void rowsOfManyExecutorsAreRare() {
    for (int id = 0; id < 100; id++) {
      report(String.valueOf(id), 1, 100);
    }
    assertThat(nextAfter(1)).singleElement().matches(update -> update.executors().size() == 100);
    report("1", 2, 200);
    assertThat(nextAfter(1)).singleElement().matches(update -> update.executors().isEmpty());
    report("2", 2, 200);
    assertThat(nextAfter(5)).singleElement().matches(update -> update.executors().size() == 2);
  }

  /** Otherwise a Spark Connect server would show an executor hours after its start. */
  @Test
  void rowsOfFewExecutorsAreFrequentInALongApplication() {
    report("1", 1, 100);
    report("2", 1, 100);
    assertThat(nextAfter(30 * 86_400)).hasSize(1);
    report("1", 2, 200);
    assertThat(nextAfter(2)).singleElement().matches(update -> update.executors().size() == 1);
  }

  @Test
  void theLastUpdateHasAllExecutors() {
    for (int id = 0; id < 100; id++) {
      report(String.valueOf(id), 1, 100);
    }
    assertThat(nextAfter(1)).hasSize(1);
    assertThat(feed.next(true)).singleElement().matches(update -> update.executors().size() == 100);
  }

  /** Spark takes no lock for its tabs: the thread that adds SQL's must not meet another one. */
  @Test
  void theCallersThreadAddsTheTab() {
    SparkContext context =
        new SparkContext(
            new SparkConf(false)
                .setMaster("local[1]")
                .setAppName("tab")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.ui.port", "0"));
    try (ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
      feed.start(context, new ApplicationSummary(totals, line -> {}), timer);
      assertThat(CollectionConverters.asJava(context.ui().get().getTabs()))
          .filteredOn(tab -> tab.prefix().equals("sluice"))
          .hasSize(1);
      timer.shutdownNow();
    } finally {
      context.stop();
    }
  }
}
