// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import org.junit.jupiter.api.Test;

/** Events that a test cannot make a real device raise. */
@OnFakeAdapters
class WatchOnFakeAdaptersTest {
  @Test
  void anEventOfALaterReleaseDoesNotEndWatching() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    ToolRun run = ToolRun.start("watch", "--timeout", "60", "--count", "2");
    run.awaitOutput("watching for asynchronous events");
    adapters.raise(0, 20, 0);
    adapters.raise(0, IbvAsyncEvent.Type.PORT_ERR);
    run.assertSuccess();
    assertThat(run.output()).contains("an event (20)").contains("port error (10), port 1");
  }
}
