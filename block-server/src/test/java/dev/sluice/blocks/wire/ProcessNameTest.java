// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessNameTest {
  @Test
  void itSaysExecutorOfExecutorsOnly() {
    assertThat(new ProcessName("app-1", "17")).hasToString("executor 17 of app-1");
    assertThat(new ProcessName("app-1", "driver")).hasToString("driver of app-1");
    String node = new NodeId("node-host-ab", "cd").toString();
    assertThat(new ProcessName("app-1", node)).hasToString("node-host-ab-cd of app-1");
  }
}
