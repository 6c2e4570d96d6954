// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Check of the node daemon by a real socket. */
class DaemonCheckTest {
  @TempDir private Path directory;

  private Finding finding(boolean required) throws IOException {
    return new DaemonCheck(required, socket(), Optional.empty()).findings().getFirst();
  }

  private Path socket() {
    return directory.resolve("node.sock");
  }

  private ServerSocketChannel listen() throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(socket()));
  }

  @Test
  void aDaemonThatIsThereIsNamedWithItsUser() throws Exception {
    try (ServerSocketChannel _ = listen()) {
      String user = Files.getOwner(Path.of("/proc/self")).getName();
      assertThat(finding(true).level()).isEqualTo(Level.OK);
      assertThat(finding(true).said())
          .isEqualTo("a node daemon of user %s listens at %s".formatted(user, socket()));
      assertThat(finding(false).said())
          .endsWith("spark.shuffle.rdma.node is off, so it is not used");
    }
  }

  @Test
  void withoutADaemonMapOutputsEndWithTheirExecutors() throws Exception {
    assertThat(finding(true).level()).isEqualTo(Level.FAIL);
    assertThat(finding(true).said())
        .contains("node.sock does not exist", "spark.shuffle.rdma.node is on");
    assertThat(finding(true).set()).contains("docs/node-daemon.md");
    assertThat(finding(false).level()).isEqualTo(Level.OK);
    assertThat(finding(false).said()).contains("executors serve their map outputs");
  }

  /** A daemon that was killed leaves its socket behind. */
  @Test
  void aSocketWithoutAProcessIsNoDaemon() throws Exception {
    listen().close();
    assertThat(socket()).exists();
    assertThat(finding(true).level()).isEqualTo(Level.FAIL);
    assertThat(finding(true).said()).contains("no process takes connections at", "refused");
    assertThat(finding(false).level()).isEqualTo(Level.OK);
  }

  /** The doctor may run as somebody else than the executors. */
  @Test
  void noLineChangesTheUserOfADaemon() {
    Finding unusable = DaemonCheck.unusable("it is there", "alice", "yarn");
    assertThat(unusable.said())
        .isEqualTo("it is there, and executors of user alice do not trust that user");
    assertThat(unusable.set()).contains("spark.shuffle.rdma.node.user=yarn");
    assertThat(unusable.lines()).isEmpty();
  }

  @Test
  void aFileIsNoDaemon() throws Exception {
    Files.createFile(socket());
    assertThat(finding(true).level()).isEqualTo(Level.FAIL);
    assertThat(finding(true).values()).containsEntry("socket", socket().toString());
  }
}
