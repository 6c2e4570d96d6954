package dev.sluice.blocks.node;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.node.NodeConnection.Committed;
import dev.sluice.blocks.node.NodeConnection.RefusedException;
import dev.sluice.blocks.wire.NodeMessages.Enter;
import dev.sluice.blocks.wire.NodeMessages.Entered;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.Taken;
import dev.sluice.blocks.wire.ProcessName;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's side of its node's block server: hands map outputs over. Any thread; blocks the
 * caller, for a few system calls as a rule, as committing a map output does; closed by whoever
 * entered.
 *
 * <p>The data file is linked into a folder of the node's, so the executor may delete its own name
 * of it, or die, at any time after {@link #handOver} has returned.
 */
public final class NodeClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeClient.class);

  /** Between attempts to reach a daemon that is being started again. */
  private static final long RETRY_MS = 100;

  /** So long a folder is waited for that a node tries to make every second. */
  private static final long FOLDER_MS = 2_000;

  private final Path socket;
  private final Enter enter;
  private final long timeoutMs;

  /** Held by the one thread that enters. */
  private final ReentrantLock entering = new ReentrantLock();

  private volatile NodeConnection connection;
  private volatile boolean closed;

  private NodeClient(Path socket, Enter enter, long timeoutMs) throws IOException {
    this.socket = socket;
    this.enter = enter;
    this.timeoutMs = timeoutMs;
    connection = open(deadlineNanos());
  }

  private long deadlineNanos() {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
  }

  /**
   * Makes the executor known to the daemon that listens on the socket; waits for one that is just
   * being started.
   *
   * @param executor in this run of its application: another attempt has another name
   * @param secret the application's, by which its peers authenticate; empty where they do not
   * @param timeout for this, and for each hand-over, whatever the daemon does
   * @throws IOException when there is no daemon, or it refuses; the message is the reason
   */
  public static NodeClient enter(Path socket, ProcessName executor, String secret, Duration timeout)
      throws IOException {
    try {
      return new NodeClient(socket, new Enter(executor, secret), timeout.toMillis());
    } catch (IOException e) {
      throw new IOException("The node's block server at %s: %s".formatted(socket, reason(e)), e);
    }
  }

  private static String reason(IOException e) {
    return e instanceof RefusedException ? e.getMessage() : e.toString();
  }

  /** Where peers find the node; of another id once the daemon was started again. */
  public NodeEndpoint endpoint() {
    return connection.endpoint();
  }

  /**
   * Returns when the map output is the node's, whatever becomes of this process. One without bytes
   * is not handed over, since nobody asks for it. A daemon that was started again is entered again.
   *
   * @throws IOException when it could not be handed over; the message is the reason, and nothing of
   *     it is left behind
   */
  public void handOver(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    if (MapOutputIndex.read(files).dataBytes() == 0) {
      return;
    }
    try {
      handOverOrAgain(shuffleId, mapId, files);
    } catch (IOException e) {
      throw new IOException(
          "Map output %d of shuffle %d was not handed over to the node's block server: %s"
              .formatted(mapId, shuffleId, reason(e)),
          e);
    }
  }

  /**
   * A daemon may be killed more than once, and is found to be dead only when it is asked. A folder
   * that it has removed, or that there was no room for, may be there when it is entered again.
   */
  private void handOverOrAgain(int shuffleId, long mapId, MapOutputFiles.Files files)
      throws IOException {
    long deadlineNanos = deadlineNanos();
    long folderNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FOLDER_MS);
    NodeConnection used = connection;
    boolean isAgain = false;
    boolean linksFailed = false;
    boolean taken = false;
    while (!taken) {
      try {
        handOver(used, shuffleId, mapId, files, deadlineNanos);
        taken = true;
      } catch (IOException e) {
        boolean isOfLinks = e instanceof FileSystemException;
        boolean isFinal = isOfLinks ? linksFailed && !mayBeMade(used, folderNanos) : used.isOpen();
        if (isFinal || System.nanoTime() - deadlineNanos >= 0) {
          throw e; // The daemon lives, and would say the same again.
        }
        linksFailed |= isOfLinks;
        LOG.debug("Shuffle {}: map output {} is handed over again", shuffleId, mapId, e);
        if (isAgain) {
          sleep(e); // It may be the daemon itself that ends what it is asked on.
        }
        isAgain = true;
        used = enteredAgain(used, deadlineNanos);
      }
    }
  }

  private static boolean mayBeMade(NodeConnection used, long deadlineNanos) {
    return System.nanoTime() - deadlineNanos < 0 && used.lacksFolder();
  }

  private static void handOver(
      NodeConnection used,
      int shuffleId,
      long mapId,
      MapOutputFiles.Files files,
      long deadlineNanos)
      throws IOException {
    Committed committed = used.commit(shuffleId, mapId, files);
    boolean taken = false;
    try {
      used.ask(new HandOver(shuffleId, mapId, committed.folder()), Taken.class, deadlineNanos);
      taken = true;
    } finally {
      if (!taken) {
        committed.undo().run();
      }
    }
  }

  /**
   * Enters again where the daemon was started again, which nobody hears of else: then {@link
   * #endpoint} is another one. Gives a sign of the executor, too.
   *
   * @throws IOException when there is no daemon, or it refuses
   */
  public void refresh() throws IOException {
    enteredAgain(connection, deadlineNanos());
  }

  /** The same connection, if the daemon is still the one that it goes to. */
  private NodeConnection enteredAgain(NodeConnection used, long deadlineNanos) throws IOException {
    try {
      used.ask(enter, Entered.class, deadlineNanos);
      return used;
    } catch (IOException e) {
      if (used.isOpen()) {
        throw e;
      }
      return reconnected(used, e, deadlineNanos);
    }
  }

  /** The connection after the one that failed, which one thread at a time makes. */
  private NodeConnection reconnected(NodeConnection failed, IOException cause, long deadlineNanos)
      throws IOException {
    try {
      if (!entering.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw cause;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
    try {
      if (connection == failed) {
        connection = open(deadlineNanos);
      }
      return connection;
    } finally {
      entering.unlock();
      if (closed) {
        connection.close(); // It may have come after the one that was closed.
      }
    }
  }

  private NodeConnection open(long deadlineNanos) throws IOException {
    IOException before = null;
    while (true) {
      if (closed) {
        throw new IOException("the executor stops");
      }
      try {
        return NodeConnection.open(socket, enter, deadlineNanos);
      } catch (RefusedException e) {
        throw e;
      } catch (IOException e) {
        if (System.nanoTime() - deadlineNanos >= 0) {
          throw before == null ? e : before; // The last try had no time to find out.
        }
        before = e;
        sleep(e);
      }
    }
  }

  private static void sleep(IOException cause) throws IOException {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
  }

  /** Hand-overs under way fail. Waits for nothing. Idempotent. */
  @Override
  public void close() {
    closed = true;
    connection.close();
  }
}
