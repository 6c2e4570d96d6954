// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.Histogram;
import com.codahale.metrics.MetricRegistry;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.OtherVersions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MetricsSourceTest {
  private final ApplicationTotals totals = new ApplicationTotals();
  private final OtherVersions versions = new OtherVersions("2.0+aa");
  private final ExecutorStates states = new ExecutorStates();
  private final MetricRegistry sums =
      MetricsSource.of(totals, states::latencies, versions).metricRegistry();

  private Object sum(String counter) {
    return ((Gauge<?>) sums.getMetrics().get(counter)).getValue();
  }

  @Test
  void theDriverShowsSumsOverExecutorsFromTheFirstScrapeOn() {
    assertThat(sum("read.bytes")).isEqualTo(0L);
    totals.accept(new Report("1", 1, "soft", Map.of("read.bytes", 3L)));
    totals.accept(new Report("2", 1, "soft", Map.of("read.bytes", 4L)));
    assertThat(sum("read.bytes")).isEqualTo(7L);
    assertThat(sum("registry.staged-bytes")).isEqualTo(0L);
  }

  @Test
  void theDriverHasEveryCounterOfExecutors() {
    ExecutorMetrics executor = new ExecutorMetrics(new ShuffleCounters());
    Set<String> expected = new TreeSet<>(ExecutorMetrics.descriptions().keySet());
    expected.addAll(Set.of("version", "other-versions", "read-latency-micros"));
    assertThat(sums.getNames()).isEqualTo(expected);
    assertThat(sums.getNames()).containsAll(executor.counters().keySet());
  }

  /** Prometheus takes a number that falls for a restart. */
  @Test
  void theDriverShowsTheLatenciesOfAllExecutorsAndKeepsThoseOfLostOnes() {
    Histogram latency = sums.getHistograms().get("read-latency-micros");
    assertThat(latency.getCount()).isZero();
    states.accept(
        new Details(
            "1",
            Optional.of(new ReadTimes(98, List.of(0L, 98L), List.of())),
            new PeerFallbacks(0, List.of(), 0)));
    states.accept(
        new Details(
            "2",
            Optional.of(new ReadTimes(2, List.of(0L, 0L, 0L, 2L), List.of())),
            new PeerFallbacks(0, List.of(), 0)));
    assertThat(latency.getCount()).isEqualTo(100);
    assertThat(latency.getSnapshot().getMedian()).isEqualTo(1);
    assertThat(latency.getSnapshot().get99thPercentile()).isEqualTo(3);
    states.executorLost("2");
    assertThat(latency.getCount()).isEqualTo(100);
    assertThat(latency.getSnapshot().get99thPercentile()).isEqualTo(3);
  }

  @Test
  void theDriverCountsProcessesOfOtherVersions() {
    versions.found("executor 1", "1.0+bb");
    assertThat(sum("other-versions")).isEqualTo(1L);
  }

  /**
   * In local mode the driver is also the executor, and Spark refuses a second source of the same
   * name.
   */
  @Test
  void driverAndExecutorHaveSourcesOfDifferentNames() {
    assertThat(MetricsSource.of(totals, states::latencies, versions).sourceName())
        .isNotEqualTo(MetricsSource.of(new ExecutorMetrics(new ShuffleCounters())).sourceName());
  }

  /** Spark's Prometheus pages write every other character as an underscore. */
  @Test
  void namesDifferAlsoWherePrometheusAllowsLettersAndDigitsAlone() {
    List<String> names =
        sums.getNames().stream().map(name -> name.replaceAll("[^a-zA-Z0-9]", "_")).toList();
    assertThat(names).doesNotHaveDuplicates();
  }
}
