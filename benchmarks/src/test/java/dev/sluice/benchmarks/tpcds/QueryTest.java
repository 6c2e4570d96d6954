// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.tpcds.Answer.GoldenAnswer;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueryTest {
  @Test
  void allQueriesOfSparksTestsAreThere() {
    List<Query> queries = Query.all();

    assertThat(queries).hasSize(103).doesNotHaveDuplicates();
    assertThat(queries).extracting(Query::name).contains("q1", "q14a", "q14b", "q99");
    assertThat(queries)
        .allSatisfy(query -> assertThat(query.text()).containsIgnoringCase("select"));
  }

  @Test
  void allButThoseThatSparkExcludesHaveGoldenAnswers() {
    List<Query> checked = Query.all().stream().filter(query -> query.exclusion() == null).toList();

    assertThat(checked).hasSize(97);
    assertThat(checked)
        .allSatisfy(query -> assertThat(query.golden().schema()).startsWith("struct<"));
  }

  @Test
  void aListMayNameAllQueries() {
    assertThat(Query.listed("q14a,q1,q14a"))
        .extracting(Query::name)
        .containsExactly("q14a", "q1", "q14a");
    assertThat(Query.listed("all,all")).hasSize(206).startsWith(new Query("q1"));
  }

  @Test
  void aGoldenAnswerHasASchemaAndRows() {
    GoldenAnswer golden = new Query("q96").golden();

    assertThat(golden.schema()).isEqualTo("struct<count(1):bigint>");
    assertThat(golden.lines()).hasSize(1);
  }
}
