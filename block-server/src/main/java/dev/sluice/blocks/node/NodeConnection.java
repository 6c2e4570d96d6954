package dev.sluice.blocks.node;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.Enter;
import dev.sluice.blocks.wire.NodeMessages.Entered;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An executor's connection to one run of its node's block server, and the folders that it was
 * given. Any thread; requests are answered one after the other. Whatever says that it is of no use
 * any more closes it, and {@link NodeClient} makes another one.
 */
final class NodeConnection implements AutoCloseable {
  private final MessageChannel channel;
  private final long timeoutMs;
  private final ReentrantLock lock = new ReentrantLock();
  private NodeEndpoint endpoint;
  private List<ApplicationFolder> folders;

  /** Which of the folders takes links to what lies in a directory: tried once. */
  private final ConcurrentHashMap<Path, ApplicationFolder> chosen = new ConcurrentHashMap<>();

  /** The daemon says no, and why. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
      super(reason);
    }
  }

  private NodeConnection(MessageChannel channel, long timeoutMs) {
    this.channel = channel;
    this.timeoutMs = timeoutMs;
  }

  /**
   * @throws RefusedException when the daemon does not serve the application
   */
  static NodeConnection open(Path socket, Enter enter, long timeoutMs) throws IOException {
    NodeConnection connection = new NodeConnection(MessageChannel.connect(socket), timeoutMs);
    try {
      connection.enter(enter);
      return connection;
    } catch (IOException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private void enter(Enter enter) throws IOException {
    Entered entered = ask(enter, Entered.class);
    PeerAddress peer = new PeerAddress(entered.nodeId(), entered.host(), entered.port());
    endpoint = new NodeEndpoint(peer, entered.provider());
    folders =
        entered.folders().stream().map(folder -> new ApplicationFolder(Path.of(folder))).toList();
  }

  NodeEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws RefusedException when the daemon refuses
   * @throws IOException when it does not answer in time; the connection is closed then
   */
  <T> T ask(Object request, Class<T> wanted) throws IOException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    try {
      if (!lock.tryLock(timeoutMs, TimeUnit.MILLISECONDS)) {
        throw new IOException("others wait for an answer as well");
      }
      try {
        return answer(exchange(request, deadlineNanos), wanted);
      } finally {
        lock.unlock();
      }
    } catch (RefusedException e) {
      throw e;
    } catch (IOException e) {
      close(); // A late answer would be taken for that of the next request.
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new IOException("interrupted while " + request + " was to be answered", e);
    }
  }

  /** On a thread of its own, since a socket's own reads have no deadline. */
  private Object exchange(Object request, long deadlineNanos)
      throws IOException, InterruptedException {
    FutureTask<Object> exchange =
        new FutureTask<>(
            () -> {
              channel.send(request);
              return channel.receive();
            });
    Thread.ofVirtual().inheritInheritableThreadLocals(false).start(exchange);
    try {
      return exchange.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new IOException(request + " was not answered within " + timeoutMs + " ms", e);
    } catch (ExecutionException e) {
      throw new IOException(request + " failed: " + e.getCause().getMessage(), e.getCause());
    }
  }

  private static <T> T answer(Object answer, Class<T> wanted) throws IOException {
    if (answer instanceof Refused(String reason)) {
      throw new RefusedException(reason);
    }
    if (!wanted.isInstance(answer)) {
      throw new IOException("the answer is an unexpected " + answer);
    }
    return wanted.cast(answer);
  }

  /**
   * Puts the map output into the folder that takes links to its data file.
   *
   * @return what takes it out again, or nothing where it was there before
   * @throws IOException when none does, with each one's reason
   */
  Undo commit(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    Path directory = files.data().getParent();
    ApplicationFolder known = chosen.get(directory);
    if (known != null) {
      return commit(known, shuffleId, mapId, files);
    }
    List<String> reasons = new ArrayList<>();
    for (ApplicationFolder folder : folders) {
      try {
        Undo undo = commit(folder, shuffleId, mapId, files);
        chosen.put(directory, folder);
        return undo;
      } catch (FileSystemException e) {
        reasons.add(e.getMessage());
      }
    }
    throw new IOException(
        "%s cannot be linked into any of the node's folders: %s"
            .formatted(files.data(), String.join("; ", reasons)));
  }

  private Undo commit(
      ApplicationFolder folder, int shuffleId, long mapId, MapOutputFiles.Files files)
      throws IOException {
    try {
      boolean isNew = folder.commit(shuffleId, mapId, files);
      return isNew ? () -> folder.remove(shuffleId, mapId) : () -> {};
    } catch (FileSystemException e) {
      if (!Files.isDirectory(folder.path())) {
        close(); // The daemon has removed the application, which is to be entered again.
      }
      throw e;
    }
  }

  /** Takes back what was done. */
  @FunctionalInterface
  interface Undo {
    void run() throws IOException;
  }

  /** Whether it is of use, as far as is known. */
  boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException _) {
      // It is of no use any more, closed or not.
    }
  }
}
