// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
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
  void levelsOfALostExecutorAreDropped() {
    Map<String, Long> held =
        Map.of(
            "registry.registered-bytes", 4096L,
            "registry.registered-outputs", 7L,
            "read.blocks", 5L);
    totals.accept(new Report("1", 1, "soft a", held));
    assertThat(totals.totals()).containsEntry("registry.registered-bytes", 4096L);
    totals.executorLost("1");
    assertThat(totals.totals())
        .containsEntry("registry.registered-bytes", 0L)
        .containsEntry("registry.registered-outputs", 0L)
        .containsEntry("read.blocks", 5L);
    totals.accept(new Report("1", 2, "soft a", held));
    assertThat(totals.totals()).containsEntry("registry.registered-bytes", 0L);
  }

  @Test
  void theCostOfAReportDoesNotDependOnTheNumberOfExecutors() {
    AtomicInteger lookedAt = new AtomicInteger();
    for (int executor = 0; executor < 100; executor++) {
      totals.accept(new Report("" + executor, 1, "soft a", new Watched(lookedAt)));
    }
    lookedAt.set(0);
    totals.accept(new Report("7", 2, "soft a", new Watched(lookedAt)));
    assertThat(totals.totals()).containsExactly(entry("read.blocks", 100L));
    assertThat(lookedAt).as("counters that were looked at").hasValueLessThan(10);
  }

  /** A report of one counter, which counts its look-ups. */
  private static final class Watched extends AbstractMap<String, Long> {
    private final AtomicInteger lookedAt;

    Watched(AtomicInteger lookedAt) {
      this.lookedAt = lookedAt;
    }

    @Override
    public Set<Map.Entry<String, Long>> entrySet() {
      lookedAt.incrementAndGet();
      return Set.of(Map.entry("read.blocks", 1L));
    }
  }

  @Test
  void executorsThatAreGoneCountOnWithoutBeingKept() {
    for (int executor = 0; executor < 10_000; executor++) {
      totals.accept(new Report("" + executor, 1, "soft a", Map.of("read.blocks", 1L)));
      totals.executorLost("" + executor);
    }
    assertThat(totals.held()).isLessThanOrEqualTo(1_000);
    assertThat(totals.totals()).containsExactly(entry("read.blocks", 10_000L));
    assertThat(totals.devices()).isEmpty();
  }

  @Test
  void aReportThatComesAfterItsExecutorWentCounts() {
    totals.accept(new Report("1", 1, "soft a", Map.of("read.blocks", 3L)));
    totals.executorLost("1");
    totals.executorLost("2");
    totals.executorLost("1");

    totals.accept(new Report("1", 3, "soft a", Map.of("read.blocks", 5L)));
    totals.accept(new Report("1", 2, "soft a", Map.of("read.blocks", 4L)));
    totals.accept(new Report("2", -7, "soft a", Map.of("read.blocks", 100L)));

    assertThat(totals.totals()).containsExactly(entry("read.blocks", 105L));
  }

  @Test
  void anOldReportDoesNotCountTwice() {
    totals.accept(new Report("0", 1, "soft a", Map.of("read.blocks", 3L)));
    for (int executor = 0; executor <= 1_000; executor++) {
      totals.executorLost("" + executor);
    }
    totals.accept(new Report("0", 2, "soft a", Map.of("read.blocks", 3L)));
    totals.executorLost("0");
    assertThat(totals.totals()).containsExactly(entry("read.blocks", 3L));
    assertThat(totals.devices()).isEmpty();
  }
}
