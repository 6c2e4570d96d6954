// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.examples.RcExample;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.net.Inet4Address;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rping command talks to librdmacm's rping, in both roles, and the data come back. */
@NeedsRdmaDevice
final class RpingInteropTest {
  /**
   * Error of rping if its main thread ends and closes the event channel on which its other thread
   * waits. The waiting thread then ends the program with -1 (rdma-core pull request 1622).
   */
  private static final String CLOSED_TOO_EARLY = "rdma_get_cm_event: Bad file descriptor";

  @TempDir private Path directory;
  private String address;

  /** rdma_cm finds devices by their addresses, and the loopback address belongs to none. */
  @BeforeEach
  void findAddressOfTheDevice() throws Exception {
    try (IbvContext context = RcExample.open(null)) {
      address =
          LocalPort.gids(context, 1).stream()
              .map(IbvGidEntry::gid)
              .map(gid -> gid.toInetAddress())
              .filter(Inet4Address.class::isInstance)
              .findFirst()
              .orElseThrow()
              .getHostAddress();
    }
  }

  @Test
  void ourClientPingsTheServerInC() throws Exception {
    String port = "" + FreePort.find();
    try (CProgram server =
        CProgram.start(
            directory, "rping", "-s", "-a", address, "-p", port, "-v", "-V", "-C", "5", "-S",
            "1000")) {
      ToolRun client = pingUntilListening(port);
      client.assertSuccess();
      assertThat(client.output()).contains("ping data: rdma-ping-4: EFGH", "5 pings of 1000 bytes");
      assertThat(server.finishedOrFailedBy(CLOSED_TOO_EARLY))
          .contains("server ping data: rdma-ping-4: EFGH");
    }
  }

  @Test
  void theClientInCPingsOurServer() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("rping", "-a", address, "-p", port, "-v");
    String output = pingInCUntilListening(port);
    assertThat(output).contains("ping data: rdma-ping-4: EFGH");
    server.assertSuccess();
    assertThat(server.output()).contains("server ping data: rdma-ping-4: EFGH", "served 5 pings");
  }

  @Test
  void oursPingEachOther() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("rping", "-a", address, "-p", port);
    pingUntilListening(port).assertSuccess();
    server.assertSuccess();
  }

  @Test
  void aServerThatIsNotThereIsAFailureInOneLine() throws Exception {
    ToolRun client = ping("" + FreePort.find());
    assertThat(client.status()).isEqualTo(1);
    assertThat(client.errors()).startsWith("verbs rping: ").contains("REJECTED").hasLineCount(1);
  }

  private ToolRun ping(String port) throws Exception {
    return ToolRun.finished("rping", "-C", "5", "-S", "1000", "-v", "-V", "-p", port, address);
  }

  /** Pings until the server answers: the only sign that an rdma_cm server listens is its answer. */
  private ToolRun pingUntilListening(String port) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    ToolRun client = ping(port);
    while (client.errors().contains("REJECTED") && System.nanoTime() < deadline) {
      client = ping(port);
    }
    return client;
  }

  private String pingInCUntilListening(String port) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (true) {
      try (CProgram client =
          CProgram.start(
              directory, "rping", "-c", "-a", address, "-p", port, "-C", "5", "-S", "1000", "-v",
              "-V")) {
        try {
          return client.finishedOrFailedBy(CLOSED_TOO_EARLY);
        } catch (AssertionError e) {
          if (!client.output().contains("REJECTED") || System.nanoTime() > deadline) {
            throw e;
          }
        }
      }
    }
  }
}
