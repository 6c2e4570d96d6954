package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import org.junit.jupiter.api.Test;

/** The row of this machine, from both sides of it. */
@NeedsRdmaDevice
final class RowTest {
  @Test
  void printsWhatTheMachineHasAndHowFastItIs() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("row", "-p", port);
    CProgram.awaitListening(Integer.parseInt(port));

    ToolRun client = ToolRun.finished("row", "-p", port, "-e", "-n", "50", "localhost");

    client.assertSuccess();
    server.assertSuccess();
    assertThat(server.output()).isEmpty();
    assertThat(client.output().lines())
        .singleElement()
        .asString()
        .contains("MTU ", "| " + System.getProperty("os.version"))
        .containsPattern("\\| 1 \\| \\d+ \\| \\d+ \\| [\\d.]+, 99%: [\\d.]+ \\| \\? \\|$");
    assertThat(client.errors()).contains("TeraSort");
  }
}
