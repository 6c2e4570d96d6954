// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.tpcds.DataJob.Dsdgen;
import dev.sluice.benchmarks.tpcds.DataJob.Dsdgen.GeneratorSeed;
import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import io.trino.tpcds.random.RandomNumberStreamImpl;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class DsdgenTest {
  private static final double SCALE = 0.01;

  /** A Lehmer generator: its first number is the seed times 16807. */
  @Test
  void randomNumbersStartAtTheSeedOfTheGoldenAnswers() {
    assertThat(rows("reason", SCALE)).isNotEmpty();
    assertThat(new RandomNumberStreamImpl(0, 1).nextRandom()).isEqualTo(100 * 16807);
  }

  @Test
  void aSeedThatComesTooLateIsRefused() {
    assertThat(rows("reason", SCALE)).isNotEmpty();
    assertThatThrownBy(() -> GeneratorSeed.set(1)).isInstanceOf(LinkageError.class);
  }

  @Test
  void everyTableHasTheColumnsOfSparksSchema() {
    assertThat(TableColumns.byTable()).hasSize(24);
    TableColumns.byTable()
        .forEach(
            (table, columns) -> {
              List<String> row = rows(table, SCALE).findFirst().orElseThrow();
              assertThat(row).as(table).hasSize(StructType.fromDDL(columns).size());
            });
  }

  /** TPC-DS 4.0 has 75 of them, which changes the reasons of all returns. */
  @Test
  void theTableOfReasonsIsThatOfTheGoldenAnswers() {
    assertThat(rows("reason", 1)).hasSize(35);
  }

  @Test
  void lettersBeyondAsciiAreAsSparkReadsThem() {
    assertThat(rows("customer", SCALE).flatMap(List::stream))
        .contains("R\uFFFDUNION")
        .doesNotContain("R\u00C9UNION");
  }

  /** This table has 1,920,800 rows at any scale. */
  @Test
  void partsOfALargeTableHaveItsRowsInTheirOrder() {
    int size = 1_920_800 / 200;
    assertThat(Dsdgen.rows("customer_demographics", SCALE, 1, 200)).hasSize(size);
    assertThat(Dsdgen.rows("customer_demographics", SCALE, 2, 200))
        .containsExactlyElementsOf(
            rows("customer_demographics", SCALE).skip(size).limit(size).toList());
  }

  @Test
  void theFirstPartHasAllRowsOfASmallTable() {
    assertThat(Dsdgen.rows("reason", 1, 1, 2)).hasSize(35);
    assertThat(Dsdgen.rows("reason", 1, 2, 2)).isEmpty();
  }

  private static Stream<List<String>> rows(String table, double scale) {
    return Dsdgen.rows(table, scale, 1, 1);
  }
}
