// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.testkit.Shuffle;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LostExecutorsTest {
  private final Pairs pairs = new Pairs();
  private final LostExecutors lost = new LostExecutors(Path.of("."), pairs, new HashSet<>());

  @Test
  void withoutRetriesEachTaskRunsOnce() {
    lost.compare(
        "killed", Map.of(Shuffle.SLUICE, reduced(0, 0, 96), Shuffle.STOCK, reduced(0, 0, 0)));

    assertThat(row("node-killed-stages").sluice()).containsExactly(1);
    assertThat(row("node-killed-maps").sluice()).containsExactly(1);
    assertThat(row("node-killed-read").sluice()).containsExactly(0.96);
    assertThat(pairs.comparisons())
        .filteredOn(row -> row.goal() != null)
        .hasSize(3)
        .extracting(Comparison::reached)
        .containsOnly("yes");
  }

  @Test
  void moreRetriesThanWithTheServiceMissTheGoal() {
    lost.compareRetries(
        "lost", Map.of(Shuffle.SLUICE, reduced(2, 32, 0), Shuffle.STOCK, reduced(1, 16, 0)));

    assertThat(row("node-lost-stages").ratio()).isEqualTo(1.5);
    assertThat(row("node-lost-stages").reached()).isEqualTo("no");
  }

  private Comparison row(String name) {
    return pairs.comparisons().stream()
        .filter(row -> row.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static Reduced reduced(int retries, int mapTasks, long readBytes) {
    return new Reduced("", 1, retries, mapTasks, 100, readBytes, "soft");
  }
}
