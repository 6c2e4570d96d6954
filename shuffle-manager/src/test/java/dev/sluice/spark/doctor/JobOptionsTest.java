// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobOptionsTest {
  private static JobOptions parse(String arguments) {
    return JobOptions.parse(List.of(arguments.split(" ")));
  }

  @Test
  void optionsAreRead() {
    JobOptions options = parse("--mesh --fix --executors 12 --wait 5");
    assertThat(options.mesh()).isTrue();
    assertThat(options.fix()).isTrue();
    assertThat(options.executors()).hasValue(12);
    assertThat(options.waitLimit()).isEqualTo(Duration.ofSeconds(5));
    assertThat(options.json()).isFalse();
  }

  @Test
  void theHelpInTheDocumentIsCurrent() {
    assertThat(Path.of(System.getProperty("sluice.basedir"), "..", "docs", "doctor.md"))
        .content()
        .contains("```\n" + JobOptions.HELP + "```\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--pear", "--executors", "--executors 0", "--wait soon", "--fix --json"})
  void wrongOptionsAreNamed(String arguments) {
    assertThatThrownBy(() -> parse(arguments))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(arguments.split(" ")[0]);
  }
}
