package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.util.Map;
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
}
