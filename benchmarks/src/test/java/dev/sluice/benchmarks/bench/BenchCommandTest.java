// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Usage;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchCommandTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "terasort --engine mapreduce --spark 4.1",
        "--spark 4.1 terasort --engine mapreduce",
        "terasort --engine mapreduce --node",
        "mapreduce --spark 4.1"
      })
  void anOptionOfSparkAloneIsRefusedForMapReduce(String arguments) {
    StringWriter errors = new StringWriter();
    assertThat(
            Usage.of(BenchCommand.commandLine())
                .setErr(new PrintWriter(errors, true))
                .execute(arguments.split(" ")))
        .isEqualTo(2);
    assertThat(errors.toString()).matches("(?s)bin/bench (terasort|mapreduce): --.*");
  }
}
