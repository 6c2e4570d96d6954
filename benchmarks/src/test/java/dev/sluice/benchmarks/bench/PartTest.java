// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.bench.AllCommand.Part;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class PartTest {
  private static final Path BIN = Path.of("/sluice/bin");
  private static final Path ROWS = Path.of("/results/part.json");

  @Test
  void theQuickPartsTakeLessThanHalfAnHour() {
    assertThat(Part.QUICK.stream().mapToInt(Part::minutes).sum()).isLessThan(30);
  }

  @Test
  void aPartIsDoneWhenItsRowsExistWhateverLabelsOthersHave() {
    Part terasort = part("terasort-3g");
    assertThat(terasort.isIn(List.of(row("stage-63-peers"), row("terasort-3g")), "")).isTrue();
    assertThat(terasort.isIn(List.of(row("terasort-3g-staged")), "")).isFalse();
    assertThat(part("storm").isIn(List.of(row("storm-rdd-iterative-16x16-1KB-jobs")), ""))
        .isFalse();
    assertThat(part("node").isIn(List.of(row("node-stopped-lost-verbs")), "")).isFalse();
    assertThat(part("node-stopped").isIn(List.of(row("node-stopped-lost")), "")).isFalse();
  }

  @Test
  void rowsOfOtherVersionsAreOfAnotherPart() {
    Part terasort = part("terasort-3g");
    assertThat(terasort.isIn(List.of(row("terasort-3g@java-21")), "")).isFalse();
    assertThat(terasort.isIn(List.of(row("terasort-3g@java-21")), "@java-21")).isTrue();
    assertThat(terasort.isIn(List.of(row("terasort-3g")), "@java-21")).isFalse();
    assertThat(part("tpcds").isIn(List.of(row("tpcds-sf1-q1@spark-4.1")), "")).isFalse();
  }

  private static Part part(String name) {
    return Part.FULL.stream().filter(part -> part.name().equals(name)).findAny().orElseThrow();
  }

  @Test
  void itsCommandIsTheOneThatAUserWouldType() {
    assertThat(String.join(" ", part("terasort-1g").command(BIN, ROWS)))
        .isEqualTo("/sluice/bin/bench terasort --size 1g --repeat 5 --json /results/part.json");
  }

  @Test
  void onVerbsItRunsWhereThereIsADevice() {
    assertThat(String.join(" ", part("read-verbs").command(BIN, ROWS)))
        .isEqualTo(
            "/sluice/bin/with-verbs --devices 1 --timeout 12240 --out /results"
                + " /sluice/bin/bench read --json /results/part.json");
  }

  private static Comparison row(String name) {
    return Comparison.less(name, "s", new double[] {1}, "stock", new double[] {1});
  }
}
