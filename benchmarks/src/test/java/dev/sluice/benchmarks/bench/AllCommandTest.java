// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Goal.RowPattern;
import dev.sluice.benchmarks.bench.AllCommand.Part;
import java.util.List;
import org.junit.jupiter.api.Test;

class AllCommandTest {
  private final Part stage = new Part("stage", new RowPattern("stage-*"), 2, List.of("stage"));
  private final Part sort =
      new Part("terasort-1g", new RowPattern("terasort-1g"), 5, List.of("terasort"));

  @Test
  void progressListsDoneAndRemainingParts() {
    assertThat(AllCommand.progress(3, List.of(stage, sort)))
        .isEqualTo(
            "1 of 3 parts over; now stage (about 2 min), then terasort-1g; about 7 min left");
    assertThat(AllCommand.progress(3, List.of(sort)))
        .isEqualTo("2 of 3 parts over; now terasort-1g (about 5 min); about 5 min left");
  }

  @Test
  void anEndedPartLeavesNoProcessToTheNextOne() throws Exception {
    String script = "sleep 60 & trap 'sleep 0.3; kill $!; wait; exit' TERM; echo ready; wait";
    Process part = new ProcessBuilder("sh", "-c", script).start();
    assertThat(part.inputReader().readLine()).isEqualTo("ready");
    ProcessHandle child = part.children().findFirst().orElseThrow();
    AllCommand.end(part);
    assertThat(part.isAlive()).isFalse();
    assertThat(child.isAlive()).isFalse();
  }
}
