// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.handover.NodeChannel.UnansweredException;
import dev.sluice.blocks.handover.NodeConnection.RefusedException;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputIndex;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an executor's map outputs over to the node daemon. The executor's {@code NodeHandOver}
 * creates and closes it. It calls {@link #handOver} for each commit, and {@link #refresh} every ten
 * seconds on its timer. Any thread may call it. Calls block, usually for a few system calls. The
 * first one enters: it registers the executor at the daemon. Later ones enter again if the daemon
 * has restarted. All calls that have to enter at a time wait for one attempt.
 *
 * <p>The data file is linked into a folder of the node. The executor may delete its own name of the
 * file, or die, at any time after {@link #handOver} has returned.
 */
public final class NodeClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeClient.class);

  /** Pause between attempts to reach a daemon that is restarting. */
  private static final long RETRY_MS = 100;

  /** How long to wait for a folder that the daemon retries to create every second. */
  private static final long FOLDER_MS = 2_000;

  private final Path socket;
  private final Optional<String> user;
  private final RegisterExecutor enter;
  private final Limits limits;
  private final SharedAttempt<NodeConnection> connecting;

  /** Last connection, open or not; null before the first. */
  private volatile @Nullable NodeConnection connection;

  private volatile boolean closed;

  /** Time by {@link System#nanoTime} since which the daemon is away; empty while it is there. */
  private volatile OptionalLong awaySinceNanos = OptionalLong.empty();

  /**
   * How long an executor waits for its daemon.
   *
   * @param answer for each answer of a daemon that accepts connections
   * @param away in all for a daemon that does not, because its socket is missing or refuses; counts
   *     from when the executor notices, over all its requests
   */
  public record Limits(Duration answer, Duration away) {}

  /**
   * Makes a client that enters with its first call.
   *
   * @param user user of the daemon, which may also be this process's own
   * @param executor name in this run of its application: another attempt has another name
   * @param secret the application's, by which its peers authenticate; empty if they do not
   * @param limits of each call
   * @param threads runs each attempt to enter on a thread of its own
   */
  public NodeClient(
      Path socket,
      Optional<String> user,
      ProcessName executor,
      String secret,
      Limits limits,
      Executor threads) {
    this.socket = socket;
    this.user = user;
    this.enter = new RegisterExecutor(executor, secret);
    this.limits = limits;
    this.connecting = new SharedAttempt<>(threads, this::connect);
  }

  /**
   * Makes a client and enters at a daemon of this process's user. Waits for one that is just
   * starting.
   *
   * @throws IOException if there is no daemon, or it refuses; the message is the reason
   */
  public static NodeClient enter(Path socket, ProcessName executor, String secret, Limits limits)
      throws IOException {
    NodeClient client =
        new NodeClient(
            socket, Optional.empty(), executor, secret, limits, DaemonThreads.blocking());
    client.refresh();
    return client;
  }

  private long answerNanos() {
    return System.nanoTime() + limits.answer().toNanos();
  }

  /** Returns true once the daemon knows this executor. */
  public boolean isKnown() {
    return connection != null;
  }

  /** Address of the node for peers, once {@link #isKnown}. Its id changes with each restart. */
  public NodeEndpoint endpoint() {
    return requireNonNull(connection).endpoint();
  }

  /**
   * Hands a map output over. Once it returns, the node has the map output, even if this process
   * dies. A map output without bytes is not handed over, since no reader asks for it.
   *
   * @throws IOException if it could not be handed over; the message is the reason. A daemon of this
   *     process's user keeps nothing of it, another one only if its answer was lost
   */
  public void handOver(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    try {
      if (!isEmpty(files)) {
        handOverOrAgain(shuffleId, mapId, files);
      }
    } catch (IOException e) {
      throw new IOException(
          "Map output %d of shuffle %d was not handed over to the node daemon: %s"
              .formatted(mapId, shuffleId, reason(e)),
          e);
    }
  }

  /** Returns a sentence. The message of an exception of the JDK may be a path alone. */
  private static String reason(IOException e) {
    boolean isSentence = e instanceof RefusedException || e.getClass() == IOException.class;
    return isSentence ? String.valueOf(e.getMessage()) : e.toString();
  }

  /** Reads the index only if there are no data: the daemon compares the two. */
  private static boolean isEmpty(MapOutputFiles.Files files) throws IOException {
    return files.data().toFile().length() == 0 && MapOutputIndex.dataBytes(files) == 0;
  }

  /**
   * Hands over, and tries again for as long as that may help. A refusal, an unanswered request and
   * an interrupt are final. It enters again before each further try, if the connection is lost or
   * no folder takes the link: the daemon then makes missing folders. For links it tries a second
   * time, and then for 2 s as long as a folder is missing.
   */
  private void handOverOrAgain(int shuffleId, long mapId, MapOutputFiles.Files files)
      throws IOException {
    long endNanos = System.nanoTime() + limits.away().plus(limits.answer()).toNanos();
    long folderNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FOLDER_MS);
    NodeConnection used = connected();
    boolean linksFailed = false;
    for (int tried = 0; ; tried++) {
      try {
        used.handOver(shuffleId, mapId, files, limits.answer());
        return;
      } catch (UnansweredException e) {
        throw e;
      } catch (IOException e) {
        boolean isOfLinks = e instanceof FileSystemException;
        boolean mayBeMade = used.lacksFolder() && System.nanoTime() - folderNanos < 0;
        boolean isFinal = isOfLinks ? linksFailed && !mayBeMade : used.isOpen();
        if (isFinal || System.nanoTime() - endNanos >= 0) {
          throw e;
        }
        linksFailed |= isOfLinks;
        LOG.debug("Shuffle {}: handing over map output {} again", shuffleId, mapId, e);
        if (tried > 0) {
          sleep(e); // The daemon may just be closing its connections.
        }
      }
      used = entered();
    }
  }

  /**
   * Enters again if the daemon has restarted, which the executor learns only by asking. {@link
   * #endpoint} then changes. Also serves as the executor's sign of life.
   *
   * @throws IOException if there is no daemon, or it refuses
   */
  public void refresh() throws IOException {
    entered();
  }

  /** Returns the same connection if the daemon has not restarted, else a new one. */
  private NodeConnection entered() throws IOException {
    NodeConnection used = connection;
    if (used != null && used.isOpen()) {
      try {
        used.ask(enter, Registered.class, answerNanos());
      } catch (UnansweredException e) {
        throw e;
      } catch (IOException e) {
        if (used.isOpen()) {
          throw e;
        }
      }
    }
    return connected();
  }

  private NodeConnection connected() throws IOException {
    return connecting.get(NodeConnection::isOpen);
  }

  private NodeConnection connect() throws IOException {
    try {
      NodeConnection opened = open();
      connection = opened;
      if (closed) {
        opened.close(); // It may have come after close().
      }
      return opened;
    } catch (IOException e) {
      throw new IOException("The node daemon at %s: %s".formatted(socket, reason(e)), e);
    }
  }

  /**
   * Connects, and waits for a daemon that is away. Does not wait for one that refuses or hangs, or
   * whose socket this process may not use.
   */
  private NodeConnection open() throws IOException {
    while (!closed) {
      try {
        NodeConnection opened = new NodeConnection(socket, user, enter, answerNanos());
        awaySinceNanos = OptionalLong.empty();
        return opened;
      } catch (RefusedException | UnansweredException e) {
        awaySinceNanos = OptionalLong.empty();
        throw e;
      } catch (IOException e) {
        // ECONNREFUSED shows that this process may use the socket. A daemon that starts replaces
        // it, so that it may be missing a moment later.
        boolean mayConnect = e instanceof ConnectException || !isForbidden();
        if (!mayConnect) {
          throw new IOException(
              e.getMessage()
                  + ". A daemon of another user needs sluice.node.otherUsers=true, and a socket in a"
                  + " folder that all users may search",
              e);
        }
        if (isAwayForLong()) {
          throw e;
        }
        sleep(e);
      }
    }
    throw new IOException("the executor is stopping");
  }

  private boolean isAwayForLong() {
    long nowNanos = System.nanoTime();
    long sinceNanos = awaySinceNanos.orElse(nowNanos);
    awaySinceNanos = OptionalLong.of(sinceNanos);
    return nowNanos - sinceNanos >= limits.away().toNanos();
  }

  /**
   * Returns true if this process may not connect to the socket, which waiting does not change: it
   * needs write permission for the socket and search permission for its folders (unix(7)).
   */
  private boolean isForbidden() {
    return Files.exists(socket) ? !Files.isWritable(socket) : !Files.notExists(socket);
  }

  private static void sleep(IOException cause) throws IOException {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
  }

  /** Makes calls under way fail. Waits for nothing. Idempotent. */
  @Override
  public void close() {
    closed = true;
    connecting.close();
    NodeConnection last = connection;
    if (last != null) {
      last.close();
    }
  }

  /**
   * Address of a node daemon for the peers of one application.
   *
   * @param peer its id changes each time that the block server starts
   * @param provider provider of the node's device
   */
  public record NodeEndpoint(PeerAddress peer, String provider) {}
}
