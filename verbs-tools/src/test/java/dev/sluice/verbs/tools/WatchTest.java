// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.examples.RcExample;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ibv.IbvContext;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events that the watch command prints for a device, and the ways in which it ends. */
@NeedsRdmaDevice
final class WatchTest {
  /** Address from the block for documentation, so that no net device has it. */
  private static final String ADDRESS = "192.0.2.77/32";

  @TempDir private Path directory;

  @Test
  void endsAfterTheGivenTime() throws Exception {
    ToolRun run = ToolRun.finished("watch", "--timeout", "0");
    run.assertSuccess();
    assertThat(run.output()).contains("watching for asynchronous events");
  }

  @Test
  void printsThatANewAddressChangedTheGids() throws Exception {
    Path netDevice;
    try (IbvContext context = RcExample.open(null)) {
      netDevice = Path.of(context.device().sysfsPath(), "parent");
    }
    assumeThat(netDevice).as("only soft-RoCE devices say which their net device is").isReadable();
    String link = Files.readString(netDevice).strip();
    ToolRun run = ToolRun.start("watch", "--timeout", "60", "--count", "1");
    run.awaitOutput("watching for asynchronous events");
    try {
      ip("addr", "add", ADDRESS, "dev", link);
      run.assertSuccess();
    } finally {
      ip("addr", "del", ADDRESS, "dev", link);
    }
    assertThat(run.output()).contains("GID table change", "(18), port 1");
  }

  private void ip(String... arguments) throws Exception {
    try (CProgram ip = CProgram.start(directory, "ip", arguments)) {
      ip.finished();
    }
  }
}
