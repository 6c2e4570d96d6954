package dev.sluice.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ScaleModelTest {
  /** Where it is not: {@code bin/bench scale --model} prints what belongs there. */
  @Test
  void documentHasTheModelsTables() throws IOException {
    String document = Files.readString(Path.of("..", "docs", "scale.md"));
    assertThat(document)
        .contains(ScaleModel.quantities(), ScaleModel.servers(), ScaleModel.blockSizes());
  }

  @Test
  void queuePairsOfANicGrowWithNodesWhereNodesServe() {
    assertThat(ScaleModel.Servers.EXECUTORS_THEMSELVES.queuePairsOfNic()).isEqualTo(31_488);
    assertThat(ScaleModel.Servers.NODES.queuePairsOfNic()).isEqualTo(1_984);
  }
}
