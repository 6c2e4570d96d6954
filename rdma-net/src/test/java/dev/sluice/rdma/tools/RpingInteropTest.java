package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvGidEntry;
import java.net.Inet4Address;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our rping talks to the one of librdmacm, in both roles, and the data come back. */
@NeedsRdmaDevice
final class RpingInteropTest {
  /**
   * What rping says where its main thread, done, has closed the event channel that its other thread
   * waits on, which then ends the program with -1 (rdma-core pull request 1622).
   */
  private static final String CLOSED_TOO_EARLY = "rdma_get_cm_event: Bad file descriptor";

  @TempDir private Path directory;
  private String address;

  /** rdma_cm finds devices by their addresses, and the loopback one belongs to none. */
  @BeforeEach
  void findAddressOfTheDevice() throws Exception {
    try (IbvContext context = LocalPort.openDevice(null)) {
      address =
          context.queryGidTable(Gids.capacity(context)).stream()
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

  /** Nothing shows from outside that an rdma_cm server listens but that it answers. */
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
