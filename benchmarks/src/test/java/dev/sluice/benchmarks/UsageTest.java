// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.testkit.Usage;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class UsageTest {
  private final StringWriter errors = new StringWriter();

  private int execute(CommandLine command, String... arguments) {
    return Usage.of(command).setErr(new PrintWriter(errors, true)).execute(arguments);
  }

  @ParameterizedTest
  @CsvSource({
    "--cores, 0",
    "--executors, -1",
    "--repeat, 0",
    "--repeat, many",
    "--partitions, 0",
    "--size, 0",
    "--memory, 0g",
    "--provider, vebs",
    "--engine, flink",
    "--spark, 3.9",
    "--conf, novalue",
    "--nosuch, 1"
  })
  void aWrongOptionIsOneLine(String option, String value) {
    assertThat(execute(TeraSortCommand.alone(), option, value)).isEqualTo(2);
    assertThat(errors.toString().lines())
        .singleElement()
        .asString()
        .startsWith("bin/terasort: ")
        .contains(option);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--node", "--spark=4.1"})
  void anOptionOfSparkAloneIsRefusedForMapReduce(String option) {
    assertThat(execute(TeraSortCommand.alone(), "--engine=mapreduce", option)).isEqualTo(2);
    assertThat(errors.toString().lines())
        .singleElement()
        .asString()
        .startsWith("bin/terasort: " + option.replaceFirst("=.*", ""))
        .contains("--engine mapreduce");
  }
}
