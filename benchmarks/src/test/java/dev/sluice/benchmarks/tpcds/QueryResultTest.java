package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QueryResultTest {
  @Test
  void repetitionsAreAddedUp() {
    QueryResult result =
        QueryResult.none("q1")
            .and(new QueryAttempt(2, 4, 3, "5abc", null))
            .and(new QueryAttempt(1, 2, 3, "5abc", null));

    assertThat(result)
        .usingRecursiveComparison()
        .isEqualTo(
            new QueryResult("q1", new double[] {2, 1}, new double[] {4, 2}, 3, "5abc", null));
  }

  @Test
  void answersThatDifferAreAProblem() {
    QueryResult result =
        QueryResult.none("q1")
            .and(new QueryAttempt(2, 4, 3, "5abc", null))
            .and(new QueryAttempt(1, 2, 3, "other", null));

    assertThat(result.problem()).isEqualTo("two repetitions differ in their answers");
  }

  @Test
  void whatARepetitionFailedOfStays() {
    QueryResult result =
        QueryResult.none("q1")
            .and(new QueryAttempt(2, 4, 3, "5abc", null))
            .and(new QueryAttempt(1, 0, 0, null, "no space left on device"));

    assertThat(result.problem()).isEqualTo("no space left on device");
  }
}
