// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.ibv.IbvQp;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs of librdmacm with their C counterparts, in both roles. */
@NeedsRdmaDevice
final class CmInteropTest {
  private static final String GROUP = "239.1.2.7";

  @TempDir private Path directory;
  private final String address = RdmaDevices.address().orElseThrow().getHostAddress();

  @Test
  void ourClientTalksToTheServerInC() throws Exception {
    String port = "" + FreePort.find();
    try (CProgram server = CProgram.start(directory, "rdma_server", "-s", address, "-p", port)) {
      ToolRun client = untilItSucceeds("client", "-p", port, address);
      assertThat(client.output()).contains("received 16 bytes");
      assertThat(server.finished()).contains("rdma_server: end 0");
    }
  }

  /** The C program waits for more than a minute to connect. */
  @Test
  void aServerThatDoesNotAnswerIsGivenUpInTime() throws Exception {
    try (RdmaAddrInfo any =
            RdmaAddrInfo.get(
                address,
                "0",
                new RdmaAddrInfo.Hints(
                    RdmaAddrInfo.Flags.PASSIVE, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC));
        RdmaCmId silent = RdmaCmId.createEp(any, null, null)) {
      silent.listen(1);
      String port = "" + silent.localAddress().getPort();
      ToolRun client = ToolRun.finished("client", "--timeout", "1", "-p", port, address);
      assertThat(client.status()).isEqualTo(1);
      assertThat(client.errors()).contains("(--timeout)");
    }
  }

  @Test
  void theClientInCTalksToOurServer() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("server", "-b", address, "-p", port);
    server.awaitOutput("listening at");
    try (CProgram client = CProgram.start(directory, "rdma_client", "-s", address, "-p", port)) {
      assertThat(client.finished()).contains("rdma_client: end 0");
    }
    server.assertSuccess();
    assertThat(server.output()).contains("received 16 bytes");
  }

  @Test
  void clientsInCShareAReceiveQueueOfOurServer() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("server", "--srq", "-n", "2", "-b", address, "-p", port);
    server.awaitOutput("listening at");
    try (CProgram one = CProgram.start(directory, "rdma_client", "-s", address, "-p", port);
        CProgram two = CProgram.start(directory, "rdma_client", "-s", address, "-p", port)) {
      assertThat(one.finished()).contains("rdma_client: end 0");
      assertThat(two.finished()).contains("rdma_client: end 0");
    }
    server.assertSuccess();
    assertThat(server.output()).containsSubsequence("received 16 bytes", "received 16 bytes");
  }

  @Test
  void ourMessagesReachTheGroupsMemberInC() throws Exception {
    try (CProgram member = CProgram.start(directory, "mckey", "-m", GROUP, "-b", address)) {
      // The only external sign that the member has joined is that it receives.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (member.isAlive() && System.nanoTime() < deadline) {
        ToolRun.finished("mckey", "-s", "-b", address, GROUP).assertSuccess();
        Thread.sleep(100);
      }
      assertThat(member.finished()).contains("data transfers complete");
    }
  }

  @Test
  void messagesOfTheProgramInCReachOurMember() throws Exception {
    ToolRun member = ToolRun.start("mckey", "-b", address, "-C", "2", GROUP);
    member.awaitOutput("joined");
    // The program does not wait for its SENDs: destroying its queue pair drops unsent ones.
    while (!member.isDone()) {
      try (CProgram sender =
          CProgram.start(directory, "mckey", "-s", "-m", GROUP, "-b", address, "-C", "100")) {
        assertThat(sender.finished()).contains("data transfers complete");
      }
    }
    member.assertSuccess();
    assertThat(member.output()).contains("received 2 messages");
  }

  @Test
  void ourClientFindsTheDatagramServiceInC() throws Exception {
    try (CProgram service = CProgram.start(directory, "udaddy", "-b", address)) {
      ToolRun client = untilItSucceeds("udaddy", address);
      assertThat(client.output()).contains("sent and received 10 messages");
      assertThat(service.finished()).contains("data transfers complete");
    }
  }

  @Test
  void theClientInCFindsOurDatagramService() throws Exception {
    ToolRun service = ToolRun.start("udaddy", "-b", address);
    service.awaitOutput("listening at");
    try (CProgram client = CProgram.start(directory, "udaddy", "-s", address)) {
      assertThat(client.finished()).contains("data transfers complete");
    }
    service.assertSuccess();
    assertThat(service.output()).contains("sent and received 10 messages");
  }

  /** Repeats a command until it succeeds: a listening rdma_cm server shows only by its answer. */
  private static ToolRun untilItSucceeds(String... arguments) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    ToolRun run = ToolRun.finished(arguments);
    while (run.status() != 0 && System.nanoTime() < deadline) {
      run = ToolRun.finished(arguments);
    }
    run.assertSuccess();
    return run;
  }
}
