// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.handover.NodeSocket;
import dev.sluice.doctor.Finding;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Check of the node daemon on this node. It connects to the daemon's socket, sends nothing and
 * closes the connection at once. {@link Checks} makes it, and {@link CheckRunner} asks it once, on
 * a thread of its own.
 *
 * @param required true if executors hand map outputs over
 * @param socket Unix domain socket at which executors look for the daemon
 * @param trusted user of the daemon, besides the executors' own
 */
record DaemonCheck(boolean required, Path socket, Optional<String> trusted) implements Check {
  private static final String NAME = "daemon";
  private static final String NODE = ExecutorSettings.NODE.key();

  private static final String START =
      "start it as the executors' user (docs/node-daemon.md), or name its socket in "
          + ExecutorSettings.NODE_SOCKET.key()
          + "; in a pod mount the socket's folder (conf/kubernetes/executor-pod.yaml)";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    return List.of(found().with("socket", socket.toString()).with("required", required));
  }

  private Finding found() throws IOException {
    if (!Files.exists(socket)) {
      return absent(socket + " does not exist");
    }
    String self = NodeSocket.self().getName();
    try (SocketChannel channel = NodeSocket.connect(socket)) {
      String user = NodeSocket.peer(channel).getName();
      String said = "a node daemon of user %s listens at %s".formatted(user, socket);
      if (!required) {
        return Finding.ok(name(), said + "; " + NODE + " is off, so it is not used");
      }
      return user.equals(self) || trusted.equals(Optional.of(user))
          ? Finding.ok(name(), said)
          : unusable(said, self, user);
    } catch (IOException e) {
      return absent("no process takes connections at %s: %s".formatted(socket, Finding.reason(e)));
    }
  }

  private Finding absent(String reason) {
    return required
        ? Finding.fail(
            name(),
            reason + ", but " + NODE + " is on: map outputs end with their executors",
            START)
        : Finding.ok(
            name(),
            "none: " + reason + "; " + NODE + " is off, so executors serve their map outputs");
  }

  /**
   * Makes the finding about a daemon of another user. No line is offered, because the doctor may
   * run as somebody else than the executors.
   */
  static Finding unusable(String said, String self, String user) {
    return Finding.fail(
        NAME,
        said + ", and executors of user " + self + " do not trust that user",
        "run daemon and executors as one user, and the doctor as that user; or set %s=%s, and for the"
                .formatted(ExecutorSettings.NODE_USER.key(), user)
            + " daemon sluice.node.otherUsers=true");
  }
}
