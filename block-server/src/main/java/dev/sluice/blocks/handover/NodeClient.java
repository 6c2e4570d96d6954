// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.handover.NodeConnection.Committed;
import dev.sluice.blocks.handover.NodeConnection.RefusedException;
import dev.sluice.blocks.handover.NodeChannel.UnansweredException;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an executor's map outputs over to the node daemon. The executor's {@code NodeHandOver}
 * creates it by {@link #enter}, and closes it. It calls {@link #handOver} for each commit, and
 * {@link #refresh} every ten seconds on its timer. Any thread may call it. Calls block, usually for
 * a few system calls.
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
  private final RegisterExecutor enter;
  private final Limits limits;

  /** The thread that connects again holds it. */
  private final ReentrantLock entering = new ReentrantLock();

  /** Replaced by the thread that holds {@link #entering}. */
  private volatile NodeConnection connection;

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

  private NodeClient(Path socket, RegisterExecutor enter, Limits limits) throws IOException {
    this.socket = socket;
    this.enter = enter;
    this.limits = limits;
    connection = open(answerNanos());
  }

  private long answerNanos() {
    return System.nanoTime() + limits.answer().toNanos();
  }

  /**
   * Registers the executor at the daemon that listens on the socket: enters. Waits for a daemon
   * that is just starting.
   *
   * @param executor name in this run of its application: another attempt has another name
   * @param secret the application's, by which its peers authenticate; empty if they do not
   * @param limits of this and each other call
   * @throws IOException if there is no daemon, or it refuses; the message is the reason
   */
  public static NodeClient enter(Path socket, ProcessName executor, String secret, Limits limits)
      throws IOException {
    try {
      return new NodeClient(socket, new RegisterExecutor(executor, secret), limits);
    } catch (IOException e) {
      throw new IOException("The node daemon at %s: %s".formatted(socket, reason(e)), e);
    }
  }

  private static String reason(IOException e) {
    return e instanceof RefusedException ? String.valueOf(e.getMessage()) : e.toString();
  }

  /** Address of the node for peers. Its id changes when the daemon restarts. */
  public NodeEndpoint endpoint() {
    return connection.endpoint();
  }

  /**
   * Hands a map output over. Once it returns, the node has the map output, even if this process
   * dies. A map output without bytes is not handed over, since no reader asks for it. Enters again
   * if the daemon has restarted.
   *
   * @throws IOException if it could not be handed over; the message is the reason, and the node
   *     keeps nothing of it
   */
  public void handOver(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    if (MapOutputIndex.read(files).dataBytes() == 0) {
      return;
    }
    try {
      handOverOrAgain(shuffleId, mapId, files);
    } catch (IOException e) {
      throw new IOException(
          "Map output %d of shuffle %d was not handed over to the node daemon: %s"
              .formatted(mapId, shuffleId, reason(e)),
          e);
    }
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
    NodeConnection used = connection;
    boolean isAgain = false;
    boolean linksFailed = false;
    boolean taken = false;
    while (!taken) {
      try {
        handOver(used, shuffleId, mapId, files);
        taken = true;
      } catch (UnansweredException e) {
        throw e;
      } catch (IOException e) {
        boolean isOfLinks = e instanceof FileSystemException;
        boolean isFinal = isOfLinks ? linksFailed && !mayBeMade(used, folderNanos) : used.isOpen();
        if (isFinal || System.nanoTime() - endNanos >= 0) {
          throw e;
        }
        linksFailed |= isOfLinks;
        LOG.debug("Shuffle {}: handing over map output {} again", shuffleId, mapId, e);
        if (isAgain) {
          sleep(e); // The daemon may just be closing its connections.
        }
        isAgain = true;
        used = enteredAgain(used);
      }
    }
  }

  private static boolean mayBeMade(NodeConnection used, long deadlineNanos) {
    return System.nanoTime() - deadlineNanos < 0 && used.lacksFolder();
  }

  private void handOver(NodeConnection used, int shuffleId, long mapId, MapOutputFiles.Files files)
      throws IOException {
    Committed committed = used.commit(shuffleId, mapId, files);
    boolean taken = false;
    try {
      used.ask(new HandOver(shuffleId, mapId, committed.folder()), Accepted.class, answerNanos());
      taken = true;
    } finally {
      if (!taken) {
        committed.undo().run();
      }
    }
  }

  /**
   * Enters again if the daemon has restarted, which the executor learns only by asking. {@link
   * #endpoint} then changes. Also serves as the executor's sign of life.
   *
   * @throws IOException if there is no daemon, or it refuses
   */
  public void refresh() throws IOException {
    enteredAgain(connection);
  }

  /** Returns the same connection if the daemon has not restarted, else a new one. */
  private NodeConnection enteredAgain(NodeConnection used) throws IOException {
    long deadlineNanos = answerNanos();
    try {
      used.ask(enter, Registered.class, deadlineNanos);
      return used;
    } catch (UnansweredException e) {
      throw e;
    } catch (IOException e) {
      if (used.isOpen()) {
        throw e;
      }
      return reconnected(used, e, deadlineNanos);
    }
  }

  /** Returns the connection that replaces a failed one. One thread at a time makes it. */
  private NodeConnection reconnected(NodeConnection failed, IOException cause, long deadlineNanos)
      throws IOException {
    long mineNanos = deadlineNanos;
    try {
      while (!entering.tryLock(mineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        if (awaySinceNanos.isEmpty()) {
          throw cause; // The daemon does not answer the entering thread either.
        }
        mineNanos = answerNanos();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
    try {
      if (connection == failed) {
        connection = open(mineNanos);
      }
      return connection;
    } finally {
      entering.unlock();
      if (closed) {
        connection.close(); // The new connection may have come after close().
      }
    }
  }

  /**
   * Connects, and waits for a daemon that is away. Does not wait for one that refuses or hangs, or
   * whose socket this process may not use.
   *
   * @param firstNanos deadline of the first answer. After each pause for an absent daemon a new
   *     deadline starts
   */
  private NodeConnection open(long firstNanos) throws IOException {
    long deadlineNanos = firstNanos;
    while (true) {
      if (closed) {
        throw new IOException("the executor is stopping");
      }
      try {
        NodeConnection opened = NodeConnection.open(socket, enter, deadlineNanos);
        awaySinceNanos = OptionalLong.empty();
        return opened;
      } catch (RefusedException | UnansweredException e) {
        awaySinceNanos = OptionalLong.empty();
        throw e;
      } catch (IOException e) {
        if (isForbidden()) {
          throw e;
        }
        long nowNanos = System.nanoTime();
        long sinceNanos = awaySinceNanos.orElse(nowNanos);
        awaySinceNanos = OptionalLong.of(sinceNanos);
        if (nowNanos - sinceNanos >= limits.away().toNanos()) {
          throw e;
        }
        sleep(e);
        deadlineNanos = answerNanos();
      }
    }
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

  /** Makes hand-overs under way fail. Waits for nothing. Idempotent. */
  @Override
  public void close() {
    closed = true;
    connection.close();
  }

  /**
   * Address of a node daemon for the peers of one application.
   *
   * @param peer its id changes each time that the block server starts
   * @param provider provider of the node's device
   */
  public record NodeEndpoint(PeerAddress peer, String provider) {}
}
