// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueryResultTest {
  private static final QueryAttempt RIGHT = new QueryAttempt(2, 4, 3, "5abc", null);

  @Test
  void equalAnswersAreNoProblem() {
    QueryResult result = new QueryResult("q1", List.of(RIGHT, RIGHT));
    assertThat(result.problem()).isNull();
    assertThat(result.each(QueryAttempt::seconds)).containsExactly(2, 2);
  }

  @Test
  void answersThatDifferAreAProblem() {
    QueryAttempt other = new QueryAttempt(1, 2, 3, "other", null);
    assertThat(new QueryResult("q1", List.of(RIGHT, other)).problem())
        .isEqualTo("two repetitions differ in their answers");
  }

  @Test
  void theReasonOfAFailedRepetitionIsKept() {
    QueryAttempt failed = new QueryAttempt(1, 0, 0, null, "no space left on device");
    assertThat(new QueryResult("q1", List.of(RIGHT, failed)).problem())
        .isEqualTo("no space left on device");
  }
}
