package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ApplicationTotalsTest {
  private final ApplicationTotals totals = new ApplicationTotals();

  @Test
  void sumsTheLatestOfEachExecutor() {
    totals.accept(new Report("1", 1, "soft a", Map.of("read.blocks", 3L)));
    totals.accept(new Report("2", 9, "soft b", Map.of("read.blocks", 4L, "local.blocks", 1L)));
    totals.accept(new Report("1", 2, "soft a", Map.of("read.blocks", 5L)));
    assertThat(totals.totals())
        .containsExactly(entry("local.blocks", 1L), entry("read.blocks", 9L));
    assertThat(totals.devices()).containsExactly(entry("1", "soft a"), entry("2", "soft b"));
  }

  @Test
  void aReportThatWasOvertakenDoesNotCount() {
    totals.accept(new Report("1", 2, "soft a", Map.of("read.blocks", 5L)));
    totals.accept(new Report("1", 1, "soft a", Map.of("read.blocks", 3L)));
    assertThat(totals.totals()).containsExactly(entry("read.blocks", 5L));
  }

  @Test
  void anExecutorReportsOnceForManyTasks() throws InterruptedException {
    ShuffleCounters counters = new ShuffleCounters();
    BlockingQueue<DirectoryMessage> sent = new LinkedBlockingQueue<>();
    try (ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor()) {
      CountersReporter reporter =
          new CountersReporter(
              "1", "soft a", new ExecutorMetrics(counters), m -> answer(sent, m), scheduler);
      counters.read(2, 20);
      counters.fallback(FallbackReason.CONNECT, 1);
      reporter.changed();
      reporter.changed();
      Report report = (Report) sent.poll(20, TimeUnit.SECONDS);
      assertThat(report.counters())
          .containsEntry("read.blocks", 2L)
          .containsEntry("read.bytes", 20L)
          .containsEntry("fallback.blocks.CONNECT", 1L)
          .containsEntry("fallback.bytes.CONNECT", 0L);
    }
    assertThat(sent).isEmpty();
  }

  private static DirectoryMessage answer(
      BlockingQueue<DirectoryMessage> sent, DirectoryMessage message) {
    sent.add(message);
    return new Ack();
  }
}
