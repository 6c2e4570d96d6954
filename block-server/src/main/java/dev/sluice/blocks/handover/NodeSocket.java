// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.handover.NodeChannel.UnansweredException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/**
 * Unix domain socket of a node daemon, and the users at its ends. {@link NodeChannel} sends
 * messages over it. The daemon and the doctor only try whether a process listens; the doctor runs
 * without the libraries that messages need. Any thread; no state.
 */
public final class NodeSocket {
  private NodeSocket() {}

  /**
   * Connects. Never waits; the caller closes the channel.
   *
   * @throws UnansweredException if a daemon listens, but has not accepted earlier connections
   */
  public static SocketChannel connect(Path path) throws IOException {
    SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
    boolean connected = false;
    try {
      socket.configureBlocking(false);
      if (!socket.connect(UnixDomainSocketAddress.of(path))) {
        throw new UnansweredException("too many executors are waiting to connect");
      }
      connected = true;
    } finally {
      if (!connected) {
        socket.close();
      }
    }
    return socket;
  }

  /** User of this process. */
  public static UserPrincipal self() throws IOException {
    return Files.getOwner(Path.of("/proc/self"));
  }

  /** User of the process at the other end. */
  public static UserPrincipal peer(SocketChannel socket) throws IOException {
    return socket.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }

  /**
   * Returns the uid of a user. The JDK has it as the user's hash code alone. A user that is looked
   * up by its number has to be the same one, which no longer holds if a later JDK changes that.
   */
  public static int uid(UserPrincipal user) throws IOException {
    int uid = user.hashCode();
    UserPrincipal sameUid =
        FileSystems.getDefault()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(Integer.toString(uid));
    if (!sameUid.equals(user)) {
      throw new IOException("cannot find the uid of user " + user);
    }
    return uid;
  }
}
