// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFileTest {
  @TempDir Path directory;
  private Path path;
  private ResultFile file;

  @BeforeEach
  void open() {
    path = directory.resolve("results.json");
    file = new ResultFile(path);
  }

  @Test
  void aFileThatIsNotThereHasNoRows() throws IOException {
    assertThat(file.read()).isEmpty();
  }

  @Test
  void rowsComeBackAsTheyWereOneALine() throws IOException {
    List<Comparison> rows = List.of(row("a", 1), row("b", 2));
    file.write(rows);
    assertThat(file.read()).usingRecursiveComparison().isEqualTo(rows);
    assertThat(Files.readAllLines(path)).hasSize(4);
    assertThat(directory).isDirectoryNotContaining("glob:**.partial");
  }

  @Test
  void aRowThatIsAddedTakesThePlaceOfTheOneOfItsName() throws IOException {
    file.add(List.of(row("a", 1), row("b", 2)));
    file.add(List.of(row("a", 3), row("c", 4)));
    assertThat(file.read()).extracting(Comparison::name).containsExactly("a", "b", "c");
    assertThat(file.read().getFirst().ratio()).isEqualTo(3);
  }

  private static Comparison row(String name, double value) {
    return Comparison.less(name, "s", new double[] {value}, "stock", new double[] {1});
  }
}
