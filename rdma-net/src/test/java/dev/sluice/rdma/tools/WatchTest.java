package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import org.junit.jupiter.api.Test;

/** The watch command ends when it is told to. */
@NeedsRdmaDevice
final class WatchTest {
  @Test
  void endsAfterTheGivenTime() throws Exception {
    ToolRun run = ToolRun.finished("watch", "--timeout", "0");
    run.assertSuccess();
    assertThat(run.output()).contains("watching for asynchronous events");
  }
}
