// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.chaos.cluster.Cluster.LastStatuses;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.testkit.ExecutorProcess;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LastStatusesTest {
  private static final ExecutorProcess FIRST = new ExecutorProcess("1", 101);
  private static final ExecutorProcess SECOND = new ExecutorProcess("2", 102);

  private final LastStatuses statuses = new LastStatuses();

  private static Optional<Status> read(long blocks) {
    Map<String, Long> counters = Map.of("read.blocks", blocks);
    return Optional.of(new Status(1, Map.of(), 0, 0, 0, 0, 0, 0, List.of(), 0, counters));
  }

  /** A fault strikes one executor, and another one with large numbers ends. */
  @Test
  void aSumGrowsThoughAnExecutorHasEnded() {
    statuses.take(Map.of(FIRST, read(1_000), SECOND, read(5)));
    assertThat(statuses.sum(Status::readBlocks)).isEqualTo(1_005);
    statuses.take(Map.of(SECOND, read(6)));
    assertThat(statuses.sum(Status::readBlocks)).isEqualTo(1_006);
  }

  @Test
  void anExecutorWithoutAnAnswerKeepsItsLastOne() {
    statuses.take(Map.of(FIRST, read(7)));
    statuses.take(Map.of(FIRST, Optional.empty(), SECOND, read(1)));
    assertThat(statuses.sum(Status::readBlocks)).isEqualTo(8);
  }
}
