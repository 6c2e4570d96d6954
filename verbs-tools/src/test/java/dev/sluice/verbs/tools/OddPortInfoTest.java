// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.OnFakeAdapters;
import org.junit.jupiter.api.Test;

/** A value without a name is printed as its number. */
@OnFakeAdapters
class OddPortInfoTest {
  @Test
  void infoShowsPortsThatAreNotAsOthersAre() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    adapters.set(0, "state", 9);
    adapters.set(0, "active_mtu", 0);
    adapters.set(0, "link_layer", 7);
    adapters.set(0, "atomic_cap", 8);

    ToolRun run = ToolRun.finished("info", "-v");

    run.assertSuccess();
    assertThat(run.output())
        .contains("state:\t\t\tinvalid state (9)")
        .contains("max_mtu:\t\t4096 (5)")
        .contains("active_mtu:\t\tinvalid MTU (0)")
        .contains("link_layer:\t\tUnknown (7)")
        .contains("atomic_cap:\t\t\tinvalid atomic capability (8)")
        .contains("hca_id:\tmlx5_1");
  }
}
