// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static dev.sluice.testkit.Shuffle.SLUICE;
import static dev.sluice.testkit.Shuffle.STOCK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class TpcdsReportTest {
  @Test
  void aQueryIsComparedRoundByRoundWithoutItsWarmUp() {
    TpcdsReport report =
        report(
            List.of("q1"),
            SampleResults.of(SLUICE, 0, SampleResults.query("q1", 1)),
            SampleResults.of(STOCK, 0, SampleResults.query("q1", 2)),
            SampleResults.of(STOCK, 1, SampleResults.query("q1", 4)),
            SampleResults.of(SLUICE, 1, SampleResults.query("q1", 3)));

    assertThat(report.comparisons()).hasSize(1);
    Comparison row = report.comparisons().getFirst();
    assertThat(row.name()).isEqualTo("tpcds-sf1-q1");
    assertThat(row.sluice()).containsExactly(1, 3);
    assertThat(row.partnerValues()).containsExactly(2, 4);
    assertThat(row.goal()).isEqualTo(1.05);
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void theSumIsOfAllQueriesOrNotThere() {
    List<String> all = Query.all().stream().map(Query::name).toList();
    QueryResult[] one = queries(all, 1);
    QueryResult[] two = queries(all, 2);
    List<Comparison> rows =
        report(all, SampleResults.of(SLUICE, 0, one), SampleResults.of(STOCK, 0, two))
            .comparisons();

    assertThat(rows).hasSize(all.size() + 2);
    Comparison total = rows.get(all.size());
    assertThat(total.name()).isEqualTo("tpcds-sf1-total");
    assertThat(total.sluice()).containsExactly(all.size());
    assertThat(total.partnerValues()).containsExactly(2 * all.size());
    Comparison cpu = rows.getLast();
    assertThat(cpu.name()).isEqualTo("tpcds-sf1-total-cpu");
    assertThat(cpu.sluice()).containsExactly(2 * all.size());
    assertThat(cpu.partnerValues()).containsExactly(4 * all.size());
    assertThat(cpu.goal()).isEqualTo(1.0);
    two[5] = SampleResults.failed("q6", "no space left on device");
    assertThat(
            report(all, SampleResults.of(SLUICE, 0, one), SampleResults.of(STOCK, 0, two))
                .comparisons())
        .extracting(Comparison::name)
        .hasSize(all.size() - 1)
        .doesNotContain("tpcds-sf1-q6", "tpcds-sf1-total", "tpcds-sf1-total-cpu");
  }

  @Test
  void answersThatDifferBetweenShufflesAreInvalid() {
    TpcdsReport report =
        report(
            List.of("q1", "q2"),
            SampleResults.of(
                SLUICE, 0, SampleResults.query("q1", 1, "a"), SampleResults.query("q2", 1)),
            SampleResults.of(
                STOCK, 0, SampleResults.query("q1", 1, "b"), SampleResults.query("q2", 1)));

    assertThat(report.problems()).containsExactly("q1: the answers of driver processes differ");
    assertThat(report.comparisons()).extracting(Comparison::name).containsExactly("tpcds-sf1-q2");
  }

  @Test
  void aQueryThatFailedIsInvalidWithItsReason() {
    TpcdsReport report =
        report(
            List.of("q1"),
            SampleResults.of(SLUICE, 0, SampleResults.failed("q1", "no space left on device")),
            SampleResults.of(STOCK, 0, SampleResults.query("q1", 1)));

    assertThat(report.problems()).containsExactly("q1, sluice round 1: no space left on device");
  }

  @Test
  void aRunThroughSluiceThatReadNothingIsInvalid() {
    ProcessResult idle =
        new ProcessResult(SLUICE, 0, List.of(SampleResults.query("q1", 1)), SluiceTotals.NONE);

    assertThat(report(List.of("q1"), idle).problems())
        .containsExactly("sluice round 1: nothing was READ");
  }

  @Test
  void aCheckReportsForEachQueryTheAnswerThatItWasComparedWith() {
    ProcessResult process =
        SampleResults.of(SLUICE, 0, SampleResults.query("q1", 1), SampleResults.query("q6", 1));

    assertThat(report(List.of("q1", "q6"), process).checks())
        .containsPattern("q1 +3 rows +golden")
        .containsPattern("q6 +3 rows +not compared: .*SPARK-35327");
  }

  private static QueryResult[] queries(List<String> names, double seconds) {
    return names.stream()
        .map(name -> SampleResults.query(name, seconds))
        .toArray(QueryResult[]::new);
  }

  private static TpcdsReport report(List<String> queries, ProcessResult... processes) {
    return new TpcdsReport(queries, List.of(processes));
  }
}
