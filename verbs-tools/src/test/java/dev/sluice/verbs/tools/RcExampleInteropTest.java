// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The RC example talks to a C program of the same steps, in both roles. */
@NeedsRdmaDevice
final class RcExampleInteropTest {
  /** GID index that the example chooses by itself: the first IPv4 address. */
  private static final String GID_INDEX = "1";

  private static final String WRITTEN = "'RDMA write operation'";

  @TempDir private Path directory;

  @Test
  void ourClientTalksWithTheServerInC() throws Exception {
    String program = CProgram.compiled(directory, "rc_example.c").toString();
    int port = FreePort.find();
    try (CProgram server = CProgram.start(directory, program, "" + port, GID_INDEX)) {
      CProgram.awaitListening(port);
      assertClient(ToolRun.finished("rc-example", "-p", "" + port, "127.0.0.1"));
      assertThat(server.finished()).contains(WRITTEN);
    }
  }

  @Test
  void theClientInCTalksWithOurServer() throws Exception {
    String program = CProgram.compiled(directory, "rc_example.c").toString();
    int port = FreePort.find();
    ToolRun server = ToolRun.start("rc-example", "-p", "" + port);
    CProgram.awaitListening(port);
    try (CProgram client = CProgram.start(directory, program, "" + port, GID_INDEX, "127.0.0.1")) {
      assertThat(client.finished())
          .contains("'SEND operation      '")
          .contains("'RDMA read operation '");
      server.assertSuccess();
      assertThat(server.output()).contains(WRITTEN);
    }
  }

  @Test
  void oursTalkWithEachOther() throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start("rc-example", "-p", "" + port);
    CProgram.awaitListening(port);
    assertClient(ToolRun.finished("rc-example", "-p", "" + port, "127.0.0.1"));
    server.assertSuccess();
    assertThat(server.output()).contains(WRITTEN);
  }

  private static void assertClient(ToolRun client) throws Exception {
    client.assertSuccess();
    assertThat(client.output())
        .contains("Message is: 'SEND operation      '")
        .contains("Contents of server's buffer: 'RDMA read operation '");
  }
}
