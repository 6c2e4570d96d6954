package dev.sluice.benchmarks.tpcds;

import static dev.sluice.benchmarks.Shuffle.CONTROL;
import static dev.sluice.benchmarks.Shuffle.SLUICE;
import static dev.sluice.benchmarks.Shuffle.STOCK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
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
  void halfARoundDoesNotCountYet() {
    ProcessResult half = SampleResults.of(SLUICE, 0, SampleResults.query("q1", 1));

    assertThat(report(List.of("q1"), half).comparisons()).isEmpty();
    assertThat(report(List.of("q1"), half).problems()).isEmpty();
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
  void aQueryThatWasRunAgainHasItsRowFromThatAlone() {
    List<String> all = Query.all().stream().map(Query::name).toList();
    QueryResult[] slower = queries(all, 2);
    slower[0] = SampleResults.query("q1", 3);
    Rounds first =
        new Rounds(
            List.of(
                SampleResults.of(SLUICE, 0, slower), SampleResults.of(STOCK, 0, queries(all, 2))));
    ProcessResult sluiceAgain = SampleResults.of(SLUICE, 0, SampleResults.query("q1", 4));
    ProcessResult stockAgain = SampleResults.of(STOCK, 0, SampleResults.query("q1", 5));

    TpcdsReport before = new TpcdsReport(all, first, Rounds.NONE);
    TpcdsReport half = new TpcdsReport(all, first, new Rounds(List.of(sluiceAgain)));
    TpcdsReport after = new TpcdsReport(all, first, new Rounds(List.of(sluiceAgain, stockAgain)));
    assertThat(before.slow()).containsExactly("q1");
    assertThat(half.comparisons().getFirst().ratio()).isEqualTo(1.5);
    assertThat(after.comparisons().getFirst().ratio()).isEqualTo(0.8);
    assertThat(after.comparisons().get(all.size()).sluice()).containsExactly(2.0 * all.size() + 1);
  }

  @Test
  void theSumIsOfTheFirstRoundsWhateverFailsAgain() {
    List<String> all = Query.all().stream().map(Query::name).toList();
    Rounds first =
        new Rounds(
            List.of(
                SampleResults.of(SLUICE, 0, queries(all, 3)),
                SampleResults.of(STOCK, 0, queries(all, 2))));
    ProcessResult again = SampleResults.of(SLUICE, 0, SampleResults.failed("q1", "no memory"));

    TpcdsReport report = new TpcdsReport(all, first, new Rounds(List.of(again)));
    assertThat(report.comparisons())
        .extracting(Comparison::name)
        .doesNotContain("tpcds-sf1-q1")
        .contains("tpcds-sf1-q2", "tpcds-sf1-total");
    assertThat(report.problems()).containsExactly("q1, sluice repeated round 1: no memory");
  }

  @Test
  void anAnswerThatDiffersWhenAQueryIsRunAgainIsInvalid() {
    Rounds first =
        new Rounds(
            List.of(
                SampleResults.of(SLUICE, 0, SampleResults.query("q1", 2)),
                SampleResults.of(STOCK, 0, SampleResults.query("q1", 1))));
    ProcessResult again = SampleResults.of(SLUICE, 0, SampleResults.query("q1", 1, "other"));

    assertThat(new TpcdsReport(List.of("q1"), first, new Rounds(List.of(again))).problems())
        .containsExactly("q1: the answers of driver processes differ");
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
    assertThat(report.table()).contains("INVALID q1");
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
  void stockIsComparedWithItself() {
    ProcessResult sluice = sample(SLUICE, 1, 1);
    ProcessResult stock = sample(STOCK, 2, 2);

    assertThat(report(List.of("q1", "q2"), sluice, stock).table()).doesNotContain("by stock");
    assertThat(report(List.of("q1", "q2"), sluice, stock, sample(CONTROL, 3, 2)).table())
        .contains("stock by stock: all 1.250, CPU 1.250; 1 of 2 queries above 1.05, worst 1.50")
        .contains("bytes READ");
  }

  private static ProcessResult sample(Shuffle shuffle, double q1, double q2) {
    return SampleResults.of(
        shuffle, 0, SampleResults.query("q1", q1), SampleResults.query("q2", q2));
  }

  @Test
  void aRunThroughSluiceThatReadNothingIsInvalid() {
    ProcessResult idle =
        new ProcessResult(SLUICE, 0, List.of(SampleResults.query("q1", 1)), SluiceTotals.NONE);

    assertThat(report(List.of("q1"), idle).problems())
        .containsExactly("sluice round 1: nothing was READ");
  }

  @Test
  void aCheckSaysOfEachQueryWhatItWasComparedWith() {
    ProcessResult process =
        SampleResults.of(SLUICE, 0, SampleResults.query("q1", 1), SampleResults.query("q6", 1));

    assertThat(report(List.of("q1", "q6"), process).checkTable())
        .containsPattern("q1 +3 rows +golden")
        .containsPattern("q6 +3 rows +not compared: .*SPARK-35327");
  }

  private static QueryResult[] queries(List<String> names, double seconds) {
    return names.stream()
        .map(name -> SampleResults.query(name, seconds))
        .toArray(QueryResult[]::new);
  }

  private static TpcdsReport report(List<String> queries, ProcessResult... processes) {
    return new TpcdsReport(queries, new Rounds(List.of(processes)), Rounds.NONE);
  }
}
