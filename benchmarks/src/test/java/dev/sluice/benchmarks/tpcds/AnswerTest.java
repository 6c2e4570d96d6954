// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.tpcds.Answer.GoldenAnswer;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class AnswerTest {
  private static final StructType SCHEMA = StructType.fromDDL("name STRING, mean DOUBLE");

  @Test
  void theOrderOfRowsIsNotPartOfAnAnswer() {
    assertThat(answer("a\t1.5", "b\t2.5").digest()).isEqualTo(answer("b\t2.5", "a\t1.5").digest());
    assertThat(answer("a\t1.5", "b\t2.5").digest()).isNotEqualTo(answer("a\t1.5").digest());
  }

  @Test
  void floatingPointNumbersMayDifferInTheirLastDigits() {
    assertThat(answer("a\t1.1271370519097714").digest())
        .isEqualTo(answer("a\t1.1271370519097712").digest())
        .isNotEqualTo(answer("a\t1.1271371").digest());
    assertThat(answer("1.1271370519097714\tNULL").digest())
        .as("text that looks like a number")
        .isNotEqualTo(answer("1.1271370519097712\tNULL").digest());
  }

  @Test
  void theTypeOfRowsIsPartOfAnAnswer() {
    StructType other = StructType.fromDDL("title STRING, mean DOUBLE");

    assertThat(new Answer(other, List.of("a\t1")).digest()).isNotEqualTo(answer("a\t1").digest());
  }

  @Test
  void anAnswerIsComparedWithAGoldenOneAsSparkDoes() {
    Answer answer = answer("brand #5 \t2.0", "none\tNULL");

    assertThat(answer.differenceFrom(golden("none\tNULL", "brand #x \t2"))).isNull();
    assertThat(answer.differenceFrom(golden("none\tNULL", "brand #x \t2.01")))
        .contains("2 rows: 1 wrong, such as [brand #x , 2]")
        .contains("1 missing, such as [brand #x , 2.01]");
    assertThat(answer.differenceFrom(new GoldenAnswer("struct<a:int>", List.of())))
        .contains("schema");
  }

  @Test
  void aGoldenAnswerMayHaveNoRows() {
    String file =
        "-- Automatically generated\n-- !query schema\nstruct<name:string,mean:double>\n"
            + "-- !query output\n\n";
    assertThat(answer().differenceFrom(GoldenAnswer.parse(file))).isNull();
    assertThat(answer("a\t1").differenceFrom(GoldenAnswer.parse(file))).contains("1 wrong");
  }

  private static Answer answer(String... lines) {
    return new Answer(SCHEMA, List.of(lines));
  }

  private static GoldenAnswer golden(String... lines) {
    return new GoldenAnswer("struct<name:string,mean:double>", List.of(lines));
  }
}
