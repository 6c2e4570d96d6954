// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
  private static Options parse(String... arguments) {
    return Options.parse(List.of(arguments));
  }

  @Test
  void aPeerIsAHostAndPerhapsAPort() {
    assertThat(parse().peer()).isEmpty();
    assertThat(parse("--peer", "b").peer()).contains(new Options.Peer("b", "b", 7391));
    assertThat(parse("--peer", "b:80").peer()).contains(new Options.Peer("b:80", "b", 80));
    assertThat(parse("--peer", "fd77::1").peer())
        .contains(new Options.Peer("fd77::1", "fd77::1", 7391));
    assertThat(parse("--peer", "[fd77::1]:80").peer())
        .contains(new Options.Peer("[fd77::1]:80", "fd77::1", 80));
  }

  @Test
  void localDirectoriesAreAList() {
    assertThat(parse("--local-dirs", "/a,,/b").localDirectories("/c"))
        .containsExactly(Path.of("/a"), Path.of("/b"));
    assertThat(parse().localDirectories("")).isNotEmpty();
  }

  /** Variables of Spark and YARN come before the setting, as for Spark. */
  @Test
  @DisabledIfEnvironmentVariable(named = "SPARK_LOCAL_DIRS", matches = ".+")
  @DisabledIfEnvironmentVariable(named = "LOCAL_DIRS", matches = ".+")
  void sparksLocalDirectoriesAreTheDefault() {
    assertThat(parse().localDirectories("/c,/d")).containsExactly(Path.of("/c"), Path.of("/d"));
    assertThat(parse().localDirectories(","))
        .containsExactly(Path.of(System.getProperty("java.io.tmpdir")));
  }

  @Test
  void settingsAreGivenAsForSparkSubmit() {
    Options options =
        parse(
            "--properties-file", "/etc/job.conf", "--conf", "a=b=c", "--conf", "spark.plugins= x ");
    assertThat(options.propertiesFile()).contains(Path.of("/etc/job.conf"));
    assertThat(options.settings())
        .containsExactly(Map.entry("a", "b=c"), Map.entry("spark.plugins", "x"));
    assertThat(parse().settings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--pear",
        "--peer",
        "--peer b:x",
        "--peer b:",
        "--peer :80",
        "--peer b:0",
        "--peer b:65536",
        "--port x --serve",
        "--port 65536 --serve",
        "--port 80",
        "--seconds 5",
        "--peer b --serve",
        "--local-dirs /a --serve",
        "--json --json",
        "--provider tcp",
        "--seconds",
        "--seconds 0 --serve",
        "--local-dirs ,",
        "--conf",
        "--conf spark.plugins",
        "--conf =x",
        "--conf a=b --conf a=c",
        "--properties-file",
        "--fix --serve",
        "--fix --json",
        "--fix --fix"
      })
  void wrongOptionsAreNamed(String arguments) {
    assertThatThrownBy(() -> parse(arguments.split(" ")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(arguments.split(" ")[0]);
  }
}
