package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PartTest {
  private static final Path BIN = Path.of("/sluice/bin");
  private static final Path ROWS = Path.of("/results/part.json");

  @Test
  void theQuickPartsTakeLessThanHalfAnHour() {
    assertThat(Part.QUICK.stream().mapToInt(Part::minutes).sum()).isLessThan(30);
  }

  /** Else the rows of one would pass for those of the other. */
  @Test
  void noPartsNameBeginsAnothersRows() {
    for (List<Part> parts : List.of(Part.QUICK, Part.FULL)) {
      for (Part part : parts) {
        Stream<Part> others = parts.stream().filter(other -> other != part);
        assertThat(others).noneMatch(other -> part.isIn(List.of(row(other.name() + "-16B"))));
      }
    }
  }

  @Test
  void aPartIsDoneWhenRowsOfItsNameAreThere() {
    Part terasort = new Part("terasort-1g", false, List.of("terasort"), 1);
    assertThat(terasort.isIn(List.of(row("stage"), row("terasort-1g")))).isTrue();
    assertThat(terasort.isIn(List.of(row("terasort-1g-verbs")))).isTrue();
    assertThat(terasort.isIn(List.of(row("terasort-10g")))).isFalse();
  }

  @Test
  void itsCommandIsWhatAUserWouldType() {
    Part part = new Part("terasort-1g", false, List.of("terasort", "--size", "1g"), 2);
    assertThat(String.join(" ", part.command(BIN, ROWS)))
        .isEqualTo("/sluice/bin/bench terasort --size 1g --json /results/part.json");
  }

  @Test
  void onVerbsItRunsWhereThereIsADevice() {
    Part part = new Part("read-verbs", true, List.of("read"), 2);
    assertThat(String.join(" ", part.command(BIN, ROWS)))
        .isEqualTo(
            "/sluice/bin/with-verbs --devices 1 --timeout 720 --out /results"
                + " /sluice/bin/bench read --json /results/part.json");
  }

  private static Comparison row(String name) {
    return new Comparison(
        name, "s", Better.LESS, new double[] {1}, "stock", new double[] {1}, null);
  }
}
