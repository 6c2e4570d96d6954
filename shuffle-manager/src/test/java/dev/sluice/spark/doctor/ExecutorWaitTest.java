// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorWaitTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private long nanos;

  private ExecutorWait wait(OptionalInt expected) {
    return new ExecutorWait(expected, LIMIT, () -> nanos);
  }

  private void pass(Duration time) {
    nanos += time.toNanos();
  }

  @Test
  void waitsForTheExpectedNumberOfExecutors() {
    ExecutorWait wait = wait(OptionalInt.of(3));
    pass(LIMIT.minusSeconds(1));
    assertThat(wait.isOver(2)).isFalse();
    assertThat(wait.isOver(3)).isTrue();
  }

  @Test
  void withoutANumberTheLastOneIsWaitedFor() {
    ExecutorWait wait = wait(OptionalInt.empty());
    pass(ExecutorWait.QUIET);
    assertThat(wait.isOver(0)).as("executors are starting").isFalse();
    assertThat(wait.isOver(1)).isFalse();
    pass(ExecutorWait.QUIET.minusSeconds(1));
    assertThat(wait.isOver(5)).as("four more have just come").isFalse();
    pass(ExecutorWait.QUIET);
    assertThat(wait.isOver(5)).isTrue();
    assertThat(wait.finding("spread").level()).isEqualTo(Level.OK);
    assertThat(wait.finding("spread").said()).startsWith("5 are checked, and no more came");
  }

  @Test
  void everyWaitEnds() {
    ExecutorWait three = wait(OptionalInt.of(3));
    ExecutorWait any = wait(OptionalInt.empty());
    pass(LIMIT);
    assertThat(three.isOver(2)).isTrue();
    assertThat(any.isOver(0)).isTrue();
  }

  private static OptionalInt expected(String... settings) {
    SparkConf conf = new SparkConf(false);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return ExecutorWait.expected(conf);
  }

  @Test
  void theConfigurationSetsTheExpectedNumber() {
    String master = "spark.master";
    assertThat(expected(master, "local[4]")).hasValue(1);
    assertThat(expected(master, "yarn")).hasValue(2);
    assertThat(expected(master, "yarn", "spark.executor.instances", "40")).hasValue(40);
    assertThat(expected(master, "k8s://https://a", "spark.executor.instances", "3")).hasValue(3);
    assertThat(expected(master, "spark://a:7077")).isEmpty();
    assertThat(expected(master, "spark://a:7077", "spark.cores.max", "8")).isEmpty();
    assertThat(
            expected(master, "spark://a:7077", "spark.cores.max", "8", "spark.executor.cores", "3"))
        .hasValue(2);
  }

  @Test
  void dynamicAllocationStartsWithItsMinimum() {
    String enabled = "spark.dynamicAllocation.enabled";
    assertThat(expected("spark.master", "yarn", enabled, "true")).isEmpty();
    assertThat(
            expected(
                "spark.master",
                "yarn",
                enabled,
                "true",
                "spark.dynamicAllocation.minExecutors",
                "5",
                "spark.executor.instances",
                "7"))
        .hasValue(7);
  }

  @Test
  void presentAndExpectedNumbersAreReported() {
    assertFinding(0, OptionalInt.of(3), Level.FAIL, "none of 3 registered within 60 s");
    assertFinding(0, OptionalInt.empty(), Level.FAIL, "none registered within 60 s");
    assertFinding(2, OptionalInt.of(3), Level.WARN, "2 of 3 registered within 60 s");
    assertFinding(3, OptionalInt.of(3), Level.OK, "3 of 3 are checked: spread");
    assertFinding(3, OptionalInt.empty(), Level.WARN, "3 registered within 60 s");
  }

  /** Checks the finding about executors that came when the time was over. */
  private void assertFinding(int seen, OptionalInt expected, Level level, String words) {
    ExecutorWait wait = wait(expected);
    pass(LIMIT);
    assertThat(wait.isOver(seen)).isTrue();
    Finding finding = wait.finding("spread");
    assertThat(finding.level()).isEqualTo(level);
    assertThat(finding.said()).startsWith(words);
    assertThat(finding.values()).containsEntry("seen", seen);
  }

  @Test
  void countAndTimeCanBeGiven() {
    JobOptions options =
        JobOptions.parse(List.of("--executors", "12", "--wait", "300", "--mesh", "--json"));
    assertThat(options.executors()).hasValue(12);
    assertThat(options.waitLimit()).hasSeconds(300);
    assertThat(options.mesh()).isTrue();
    assertThat(options.json()).isTrue();
    assertThat(JobOptions.parse(List.of()).executors()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--executors", "--executors 0", "--wait x", "--wait 0", "--mash"})
  void wrongOptionsAreNamed(String options) {
    assertThatThrownBy(() -> JobOptions.parse(List.of(options.split(" "))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(options.split(" ")[0]);
  }
}
