// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class SilentNodesTest {
  private final SilentNodes nodes = new SilentNodes();

  @Test
  void nodesThatRefuseAreNotSilent() {
    for (int node = 0; node < 10; node++) {
      nodes.failed(TimeUnit.MILLISECONDS.toNanos(100));
    }
    assertThat(nodes.areMany()).isFalse();
  }

  @Test
  void threeSilentNodesAreManyUntilOneIsFound() {
    for (int node = 0; node < 3; node++) {
      assertThat(nodes.areMany()).isFalse();
      nodes.failed(TimeUnit.SECONDS.toNanos(5));
    }
    assertThat(nodes.areMany()).isTrue();
    assertThat(nodes).hasToString("3 node daemons in a row did not answer");
    nodes.found();
    assertThat(nodes.areMany()).isFalse();
  }
}
