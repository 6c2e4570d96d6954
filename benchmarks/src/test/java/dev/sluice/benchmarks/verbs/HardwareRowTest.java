// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.benchmarks.verbs.HardwareRow.RowColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The row that users may paste into docs/dev/hardware-rows.md. */
final class HardwareRowTest {
  private static final Path PAGE = Path.of("..", "docs", "dev", "hardware-rows.md");

  @TempDir Path directory;

  @Test
  void aRowIsOneLineWhateverItContains() {
    HardwareRow row = new HardwareRow();
    for (RowColumn column : RowColumn.values()) {
      row.with(column, column.ordinal() + " a|b\n");
    }
    assertThat(row.markdown()).startsWith("| 0 a\\|b | 1 a\\|b |").endsWith("| 9 a\\|b |");
    assertThat(row.unknown()).isEmpty();
  }

  @Test
  void emptyCellsAreNamed() {
    HardwareRow row = new HardwareRow().with(RowColumn.DEVICE, "mlx5_0").with(RowColumn.LINK, " ");
    assertThat(row.markdown()).isEqualTo("| mlx5_0 | ? | ? | ? | ? | ? | ? | ? | ? | ? |");
    assertThat(row.unknown())
        .containsExactly(
            "firmware",
            "link",
            "kernel",
            "rdma-core",
            "hosts",
            "READ of 64 KiB, MiB/s",
            "READ of 1 MiB, MiB/s",
            "READ of 2 B, us",
            "TeraSort");
  }

  @Test
  void thePageHasTheColumnsOfTheRow() throws Exception {
    assertThat(Files.readAllLines(PAGE))
        .contains(
            Arrays.stream(RowColumn.values())
                .map(RowColumn::title)
                .collect(Collectors.joining(" | ", "| ", " |")));
  }

  @Test
  void rdmaCoreIsTheOneThatIsLoaded() {
    String at = "7f00a0000000-7f00a0005000 r-xp 00000000 08:01 1234   /usr/lib/";
    assertThat(HardwareRow.rdmaCore(List.of(at + "libc.so.6", at + "libibverbs.so.1.14.44.0")))
        .isEqualTo("44.0");
    assertThat(HardwareRow.rdmaCore(List.of(at + "libibverbs.so.1"))).isEmpty();
  }

  @Test
  void cellsHaveTheFiguresOfBwAndLat() throws Exception {
    assertThat(RowCommand.cell("{\"op\":\"read\",\"bwAverageMiBPerSecond\":398.49}"))
        .isEqualTo("398");
    assertThat(RowCommand.cell("{\"typicalUsec\":33.80,\"p99Usec\":605.44}"))
        .isEqualTo("33.8, 99%: 605.4");
  }

  @Test
  void teraSortsFigureIsTheMedians() throws Exception {
    assertThat(summary("\"sluice_s\":[20.5,19.0,22.25],\"stock_s\":[23.0,24.0]"))
        .isEqualTo("1.0 GB by verbs: 20.5 s, stock 23.5 s");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"sluice_s\":[],\"stock_s\":[1.0]", "\"sluice_s\":[1.0]", "\"other\":[1.0]"})
  void aFileThatHasNoFigureIsAFailure(String seconds) {
    assertThatThrownBy(() -> summary(seconds))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no valid sort by bin/terasort --json");
  }

  @Test
  void aSortThatWasNotValidHasNoFigure() throws Exception {
    Path file = Files.writeString(directory.resolve("result.json"), "{\"valid\":false}");
    assertThatThrownBy(() -> RowCommand.teraSort(file)).hasMessageContaining("no valid sort");
  }

  private String summary(String seconds) throws IOException {
    String json =
        "{\"valid\":true,\"records\":10000000,\"checksum\":\"4c\",\"provider\":\"verbs\","
            + seconds
            + ",\"bytes\":{\"read\":1}}";
    return RowCommand.teraSort(Files.writeString(directory.resolve("result.json"), json));
  }
}
