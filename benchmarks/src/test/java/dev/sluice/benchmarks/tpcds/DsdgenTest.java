// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.tpcds.DataJob.Dsdgen;
import dev.sluice.benchmarks.tpcds.DataJob.Dsdgen.GeneratorSeed;
import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import io.trino.tpcds.random.RandomNumberStreamImpl;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class DsdgenTest {
  private static final double SCALE = 0.01;

  /** A Lehmer generator: its first number is the seed times 16807. */
  @Test
  void randomNumbersStartAtTheSeedOfTheGoldenAnswers() {
    assertThat(Dsdgen.rows("reason", SCALE)).isNotEmpty();
    assertThat(new RandomNumberStreamImpl(0, 1).nextRandom()).isEqualTo(100 * 16807);
  }

  @Test
  void aSeedThatComesTooLateIsRefused() {
    assertThat(Dsdgen.rows("reason", SCALE)).isNotEmpty();
    assertThatThrownBy(() -> GeneratorSeed.set(1)).isInstanceOf(LinkageError.class);
  }

  @Test
  void everyTableHasTheColumnsOfSparksSchema() {
    assertThat(TableColumns.byTable()).hasSize(24);
    TableColumns.byTable()
        .forEach(
            (table, columns) -> {
              List<String> row = Dsdgen.rows(table, SCALE).findFirst().orElseThrow();
              assertThat(row).as(table).hasSize(StructType.fromDDL(columns).size());
            });
  }

  /** TPC-DS 4.0 has 75 of them, which changes the reasons of all returns. */
  @Test
  void theTableOfReasonsIsThatOfTheGoldenAnswers() {
    assertThat(Dsdgen.rows("reason", 1)).hasSize(35);
  }

  @Test
  void lettersBeyondAsciiAreAsSparkReadsThem() {
    assertThat(Dsdgen.rows("customer", SCALE).flatMap(List::stream))
        .contains("R\uFFFDUNION")
        .doesNotContain("R\u00C9UNION");
  }
}
