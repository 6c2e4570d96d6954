// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.Contexts;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One doctor READs from another by the software provider. */
class PeerCheckTest {
  @Test
  void aHealthyPeerIsReadWithBandwidthAndLatency() throws Exception {
    try (PeerServer server = PeerServer.open(context(FaultPlan.NONE), 0)) {
      Finding finding = read(server.port());
      assertThat(finding.level()).as(finding.said()).isEqualTo(Level.OK);
      assertThat(finding.said())
          .matches(
              "READ from localhost \\(soft soft0\\): \\d+ MB/s, .* us, not judged: provider soft"
                  + " has no port");
      assertThat(finding.values())
          .containsEntry("host", "localhost")
          .containsKeys("read_bytes_per_second", "read_latency_microseconds");
    }
  }

  @Test
  void bytesThatAreWrongAreNotTakenForAnAnswer() throws Exception {
    try (PeerServer server = PeerServer.open(context(FaultPlan.parse("seed=1;corrupt=1")), 0)) {
      Finding finding = read(server.port());
      assertThat(finding.level()).isEqualTo(Level.FAIL);
      assertThat(finding.said()).contains("READs deliver wrong bytes");
    }
  }

  @Test
  void aMissingServerIsReported() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Finding finding = read(port);
    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.said()).contains("no doctor answers on TCP port");
    assertThat(finding.set()).contains("doctor --serve");
  }

  @Test
  void strangersGetNothingAndDisturbNoPeer() throws Exception {
    try (PeerServer server = PeerServer.open(context(FaultPlan.NONE), 0);
        Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port());
        Socket silent = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      stranger.getOutputStream().write(new byte[5]);
      assertThat(stranger.getInputStream().read()).isEqualTo(-1);
      assertThat(silent.isConnected()).isTrue();
      assertThat(read(server.port()).level()).isEqualTo(Level.OK);
    }
  }

  @Test
  void aServerOfAnotherKindIsNotADoctor() throws Exception {
    try (ServerSocket other = new ServerSocket(0)) {
      Thread.ofVirtual().start(() -> greet(other));
      Finding finding = read(other.getLocalPort());
      assertThat(finding.level()).isEqualTo(Level.FAIL);
      assertThat(finding.said()).contains("no doctor answers on TCP port").doesNotContain("null");
      assertThat(finding.set()).contains("doctor --serve");
    }
  }

  private static void greet(ServerSocket other) {
    try (Socket client = other.accept()) {
      client.getOutputStream().write("SSH-2.0-OpenSSH_9.2\r\n".getBytes(US_ASCII));
    } catch (IOException e) {
      // Reported to the test.
    }
  }

  @Test
  void aServerThatCannotBeLeavesNoSocketOpen() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    assertThatThrownBy(() -> PeerServer.open(context("none", FaultPlan.NONE), port))
        .hasMessageContaining("not one of auto, verbs, soft");
    assertThatCode(() -> new ServerSocket(port).close()).doesNotThrowAnyException();
  }

  @Test
  void failingAcceptsPauseTheServerAndAreReportedOnceEachTimeTheyBegin() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, US_ASCII));
    try (ExhaustedSocket socket = new ExhaustedSocket();
        PeerServer server = PeerServer.open(context(FaultPlan.NONE), socket)) {
      socket.awaitPauseBehind(3);
      socket.exhausted = false;
      assertThat(read(server.port()).level()).isEqualTo(Level.OK);
      assertThat(said.toString(US_ASCII)).containsOnlyOnce("Too many open files");

      socket.exhausted = true;
      new Socket(InetAddress.getLoopbackAddress(), server.port()).close();
      socket.awaitPauseBehind(socket.attempts + 3);
    } finally {
      System.setErr(before);
    }
    assertThat(said.toString(US_ASCII).split("Too many open files", -1)).hasSize(3);
  }

  /** Happens if strangers have taken all file descriptors. */
  private static final class ExhaustedSocket extends ServerSocket {
    private volatile boolean exhausted = true;
    private volatile Thread listener;
    private volatile int attempts;

    ExhaustedSocket() throws IOException {
      super(0);
    }

    @Override
    public Socket accept() throws IOException {
      if (exhausted) {
        attempts++;
        listener = Thread.currentThread();
        throw new SocketException("Too many open files");
      }
      return super.accept();
    }

    void awaitPauseBehind(int wanted) {
      long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      while (attempts < wanted || listener.getState() != Thread.State.TIMED_WAITING) {
        assertThat(System.nanoTime()).as("the thread does not wait").isLessThan(deadlineNanos);
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void bandwidthIsComparedWithTheRateOfTheSlowerPort() {
    assertJudged(0.01, Level.WARN, "125 MB/s, 3.0 us, 1 % of the slower port's 100 Gb/s");
    assertJudged(0.49, Level.WARN, "49 %");
    assertJudged(0.51, Level.OK, "51 %");
  }

  private static void assertJudged(double share, Level level, String words) {
    LinkRate link = new LinkRate(12.5e9, "");
    Finding finding =
        new PeerCheck(context(FaultPlan.NONE), new PeerAddress("b", "b", 1))
            .judged(
                new PeerReader.Measured(
                    "verbs mlx5_0", share * link.bytesPerSecond(), 3, 4096, 4096, link));
    assertThat(finding.level()).isEqualTo(level);
    assertThat(finding.said()).contains(words);
    assertThat(finding.set().isEmpty()).isEqualTo(level == Level.OK);
  }

  private static Finding read(int port) throws Exception {
    PeerAddress peer = new PeerAddress("peer", "localhost", port);
    return new PeerCheck(context(FaultPlan.NONE), peer).findings().getFirst();
  }

  private static CheckContext context(FaultPlan faults) {
    return context("soft", faults);
  }

  private static CheckContext context(String provider, FaultPlan faults) {
    return new CheckContext(
        Path.of("/"),
        InetAddress.getLoopbackAddress(),
        new CheckContext.Rdma(
            provider,
            VerbsOptions.DEFAULT,
            SoftOptions.DEFAULT.with(o -> o.faults = faults),
            TransferOptions.DEFAULT),
        new CheckContext.Memory(new MemoryBudget(1, 1, 1), RegistrationMode.AUTO, List.of()),
        Contexts.noSpark(Path.of("/")));
  }
}
