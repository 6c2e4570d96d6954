// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeChannel.UnansweredException;
import dev.sluice.blocks.handover.NodeSocket;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unix domain socket of a node, on which its executors hand map outputs over. Processes of other
 * users are refused, unless {@link NodeSettings#OTHER_USERS} lets them in; the kernel tells their
 * users. Each executor has one connection, and each connection one platform thread, which may wait
 * for a disk; executors per application are limited. Virtual threads that wait for a disk would
 * hold up all others. The {@link NodeDaemon} creates and closes it. The main thread of {@link
 * NodeMain} starts the accepting thread, which is therefore no daemon thread of the JVM and keeps
 * the process alive.
 */
final class SocketServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SocketServer.class);

  /** Time in which a new connection must send its first message. */
  private static final long ENTER_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Limit of a user's connections that have not sent their first message. */
  private static final int MAX_ENTERING = 64;

  /** Pause after a connection that could not be accepted. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Path path;
  private final int maxExecutors;
  private final long maxConnections;
  private final boolean letsOthersIn;
  private final Applications applications;
  private final ThreadFactory threads;
  private final ServerSocketChannel server;
  private final UserPrincipal user;
  private final Set<NodeChannel> connections = ConcurrentHashMap.newKeySet();

  /** Number of connections that have not sent their first message, by user. */
  private final Map<UserPrincipal, Integer> entering = new ConcurrentHashMap<>();

  private final ConnectionLog log = new ConnectionLog();

  /** Number of connected executors, by application name. */
  private final Map<String, Integer> executors = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /**
   * Listens at once.
   *
   * @param applications admit the executors
   * @param threads makes a thread for each connection
   * @throws IOException if another daemon listens there
   */
  SocketServer(NodeOptions options, Applications applications, ThreadFactory threads)
      throws IOException {
    path = options.get(NodeSettings.SOCKET).toAbsolutePath();
    maxExecutors = options.get(NodeSettings.MAX_EXECUTORS);
    maxConnections = (long) maxExecutors * options.get(NodeSettings.MAX_APPLICATIONS);
    letsOthersIn = options.get(NodeSettings.OTHER_USERS);
    this.applications = applications;
    this.threads = threads;
    Files.createDirectories(this.path.getParent());
    removeLeftOver();
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    boolean listening = false;
    try {
      server.bind(UnixDomainSocketAddress.of(this.path));
      Files.setPosixFilePermissions(
          this.path, PosixFilePermissions.fromString(letsOthersIn ? "rw-rw-rw-" : "rw-------"));
      user = Files.getOwner(this.path);
      listening = true;
    } finally {
      if (!listening) {
        server.close();
      }
    }
    Thread.ofPlatform().name("sluice-node-accept").start(this::accept);
  }

  /** Removes the socket of a daemon that was killed. */
  private void removeLeftOver() throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    if (isListenedAt(path)) {
      throw new IOException("another daemon listens at " + path);
    }
    Files.delete(path);
  }

  /** Returns true if a daemon accepts connections there. */
  static boolean isListenedAt(Path path) {
    try (SocketChannel _ = NodeSocket.connect(path)) {
      return true;
    } catch (UnansweredException e) {
      return true;
    } catch (IOException e) {
      LOG.debug("No process listens at {} any more", path, e);
      return false;
    }
  }

  private void accept() {
    while (!closed) {
      try {
        start(server.accept());
      } catch (ClosedChannelException e) {
        if (!closed) {
          throw new AssertionError("The socket " + path + " was closed while the daemon runs", e);
        }
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        LOG.warn("Accepting an executor's connection at {} failed", path, e);
        LockSupport.parkNanos(PAUSE_NANOS); // File descriptors or threads may be used up.
      }
    }
  }

  private void start(SocketChannel accepted) throws IOException {
    boolean started = false;
    try {
      threads.newThread(() -> serve(accepted)).start();
      started = true;
    } finally {
      if (!started) {
        accepted.close();
      }
    }
  }

  private void serve(SocketChannel accepted) {
    try (NodeChannel channel = new NodeChannel(accepted)) {
      connections.add(channel);
      try {
        if (!closed) {
          serve(channel);
        }
      } finally {
        connections.remove(channel);
      }
    } catch (EOFException | ClosedChannelException | UnansweredException e) {
      LOG.debug("An executor has disconnected, or sent nothing", e);
    } catch (IOException | RuntimeException e) {
      log.failed(e);
    }
  }

  private void serve(NodeChannel channel) throws IOException {
    UserPrincipal peer = channel.peer();
    boolean isOther = !peer.equals(user);
    if (isOther && !letsOthersIn) {
      channel.send(
          new Refused(
              "executors have to run as %s, not as %s, while the daemon's %s is false"
                  .formatted(user, peer, NodeSettings.OTHER_USERS.key())));
    } else if (connections.size() > maxConnections) {
      channel.send(tooMany(maxConnections));
    } else {
      Object first = first(channel, peer);
      if (!(first instanceof RegisterExecutor enter)) {
        channel.send(new Refused("the first message of an executor has to be RegisterExecutor"));
      } else if (!enter.isSpoken()) {
        channel.send(otherVersion(enter.version()));
      } else if (isOther && enter.secret().isEmpty()) {
        channel.send(
            new Refused(
                "executors of %s need a secret at a daemon of %s: set spark.authenticate=true"
                    .formatted(peer, user)));
      } else {
        serve(enter, isOther ? NodeSocket.uid(peer) : null, channel);
      }
    }
  }

  private static Refused otherVersion(int version) {
    return new Refused(
        "the executor speaks version %d of the protocol, the node daemon versions %d and %d;"
                .formatted(version, RegisterExecutor.PREVIOUS, RegisterExecutor.VERSION)
            + (version > RegisterExecutor.VERSION
                ? " upgrade the node daemon"
                : " upgrade Sluice in the application"));
  }

  /**
   * Waits for the first message. Closes a connection too many without an answer: its executor then
   * tries again.
   */
  private Object first(NodeChannel channel, UserPrincipal peer) throws IOException {
    try {
      if (entering.merge(peer, 1, Integer::sum) > MAX_ENTERING) {
        throw new IOException(
            "user %s has %d connections that have sent nothing yet".formatted(peer, MAX_ENTERING));
      }
      return channel.receive(System.nanoTime() + ENTER_TIMEOUT_NANOS);
    } finally {
      entering.computeIfPresent(peer, (_, count) -> count == 1 ? null : count - 1);
    }
  }

  private static Refused tooMany(long executors) {
    return new Refused(
        "%d executors are connected already (%s)"
            .formatted(executors, NodeSettings.MAX_EXECUTORS.key()));
  }

  private void serve(RegisterExecutor enter, @Nullable Integer other, NodeChannel channel)
      throws IOException {
    String application = enter.executor().application();
    try {
      if (executors.merge(application, 1, Integer::sum) > maxExecutors) {
        channel.send(tooMany(maxExecutors));
      } else {
        answer(enter, other, channel);
      }
    } finally {
      executors.computeIfPresent(application, (_, count) -> count == 1 ? null : count - 1);
    }
  }

  private void answer(RegisterExecutor enter, @Nullable Integer other, NodeChannel channel)
      throws IOException {
    SparkApplication application;
    try {
      application = applications.enter(enter, other);
    } catch (IOException | RuntimeException e) {
      log.refused(enter.executor(), e);
      channel.send(new Refused(ConnectionLog.reason(e)));
      return;
    }
    channel.send(application.entered());
    while (true) {
      Object request = channel.receive();
      if (application.isOver()) {
        return; // The executor enters again, which opens the application again.
      }
      channel.send(answer(enter, other, application, request));
    }
  }

  private Object answer(
      RegisterExecutor enter,
      @Nullable Integer other,
      SparkApplication application,
      Object request) {
    try {
      if (request.equals(enter)) {
        return applications.enter(enter, other).entered();
      }
      if (request instanceof HandOver(int shuffleId, long mapId, int folder)) {
        application.handOver(shuffleId, mapId, folder);
        return new Accepted();
      }
      return new Refused("the request is not a hand-over");
    } catch (IOException | RuntimeException e) {
      if (!request.equals(enter)) { // executors enter every ten seconds, also during draining
        log.refused(request, enter.executor(), e);
      }
      return new Refused(ConnectionLog.reason(e));
    }
  }

  /** Stops listening. Executors notice that their connections end. Idempotent. */
  @Override
  public void close() throws IOException {
    closed = true;
    server.close();
    for (NodeChannel connection : connections) {
      connection.close();
    }
    Files.deleteIfExists(path);
  }
}
