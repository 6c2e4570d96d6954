// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.benchmarks.BenchmarkRun.MachineLoad;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineLoadTest {
  // user nice system idle iowait irq softirq steal guest guest_nice
  private static final MachineLoad START = load("cpu  100 0 50 800 10 5 5 30 7 0", 40);

  @Test
  void sharesAreOfAllCpuTimeSince() {
    MachineLoad end = load("cpu  250 0 100 1000 20 5 15 80 9 0", 170);
    // 470 ticks: 210 busy, of which 130 own; 50 stolen.
    assertThat(end.othersSince(START)).isEqualTo(80 / 470.0, within(1e-9));
    assertThat(end.stolenSince(START)).isEqualTo(50 / 470.0, within(1e-9));
  }

  @Test
  void noTimeHasNoShares() {
    assertThat(START.othersSince(START)).isZero();
    assertThat(START.stolenSince(START)).isZero();
  }

  @Test
  void thisMachineCanBeRead() {
    MachineLoad now = MachineLoad.now();
    assertThat(now.total()).isGreaterThanOrEqualTo(now.busy());
    assertThat(now.own()).isPositive();
  }

  @Test
  void aBusyMachineIsWarnedOf() {
    assertThat(run(0.01, 0.001).warning()).isEmpty();
    assertThat(run(0.23, 0.001).warning()).hasValueSatisfying(has("23 %"));
    assertThat(run(0.01, 0.04).warning()).hasValueSatisfying(has("4 %"));
  }

  private static java.util.function.Consumer<String> has(String text) {
    return warning -> assertThat(warning).startsWith("BUSY").contains(text);
  }

  private static BenchmarkRun run(double others, double stolen) {
    return new BenchmarkRun("", "", 2, "", "", "", "", List.of(), others, stolen);
  }

  private static MachineLoad load(String cpu, int own) {
    String self = "7 (a (b) c) S 1 7 7 0 -1 0 0 0 0 0 " + own + " 0 0 0 20 0 1 0 99";
    return MachineLoad.parse(cpu + "\ncpu0 1 1\n", self);
  }
}
