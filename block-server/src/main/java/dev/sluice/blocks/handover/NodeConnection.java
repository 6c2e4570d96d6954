// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.handover.NodeClient.NodeEndpoint;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Connection of an executor to one run of the node daemon, with the folders that the daemon gave
 * it. {@link NodeClient} opens it. The first failure that makes it useless closes it, and {@link
 * NodeClient} then opens another one. Any thread; requests are answered one after the other.
 */
final class NodeConnection implements AutoCloseable {
  private final NodeChannel channel;

  /** Set, as the folders are, before another thread sees the connection. */
  @SuppressWarnings("NullAway.Init")
  private NodeEndpoint endpoint;

  @SuppressWarnings("NullAway.Init")
  private List<ApplicationFolder> folders;

  /** Folder that takes links to files of a directory, found by one trial. */
  private final ConcurrentHashMap<Path, ApplicationFolder> chosen = new ConcurrentHashMap<>();

  /** The daemon refuses, for this reason. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
      super(reason);
    }
  }

  private NodeConnection(NodeChannel channel) {
    this.channel = channel;
  }

  /**
   * @param deadlineNanos of {@link System#nanoTime}
   * @throws RefusedException if the daemon does not serve the application
   * @throws IOException if no daemon listens, or it does not answer by then
   */
  static NodeConnection open(Path socket, RegisterExecutor enter, long deadlineNanos)
      throws IOException {
    NodeConnection connection = new NodeConnection(NodeChannel.connect(socket));
    try {
      connection.enter(enter, deadlineNanos);
      return connection;
    } catch (IOException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private void enter(RegisterExecutor enter, long deadlineNanos) throws IOException {
    checkPeer();
    Registered entered = ask(enter, Registered.class, deadlineNanos);
    PeerAddress peer = new PeerAddress(entered.nodeId(), entered.host(), entered.port());
    endpoint = new NodeEndpoint(peer, entered.provider());
    folders =
        entered.folders().stream().map(folder -> new ApplicationFolder(Path.of(folder))).toList();
  }

  /** Any process that may write to the socket's folder may listen there: checks its user first. */
  private void checkPeer() throws IOException {
    UserPrincipal self = NodeChannel.self();
    if (!channel.peer().equals(self)) {
      throw new RefusedException(
          "the process that listens there runs as %s, not as %s".formatted(channel.peer(), self));
    }
  }

  NodeEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param deadlineNanos of {@link System#nanoTime}
   * @throws RefusedException if the daemon refuses
   * @throws IOException if it does not answer by then; closes the connection
   */
  <T> T ask(Object request, Class<T> wanted, long deadlineNanos) throws IOException {
    try {
      return answer(channel.ask(request, deadlineNanos), wanted);
    } catch (RefusedException e) {
      throw e;
    } catch (IOException e) {
      close(); // The daemon is gone or hangs.
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for the answer to " + request, e);
    }
  }

  private static <T> T answer(Object answer, Class<T> wanted) throws IOException {
    if (answer instanceof Refused(String reason)) {
      throw new RefusedException(reason);
    }
    if (!wanted.isInstance(answer)) {
      throw new IOException("unexpected answer: " + answer);
    }
    return wanted.cast(answer);
  }

  /**
   * Puts the map output into the folder that takes links to its data file.
   *
   * @throws FileSystemException if no folder does, with the reason of each
   */
  Committed commit(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    Path directory = files.data().getParent();
    ApplicationFolder known = chosen.get(directory);
    if (known != null) {
      return commit(known, shuffleId, mapId, files);
    }
    List<String> reasons = new ArrayList<>();
    for (ApplicationFolder folder : folders) {
      try {
        Committed committed = commit(folder, shuffleId, mapId, files);
        chosen.put(directory, folder);
        return committed;
      } catch (FileSystemException e) {
        reasons.add(reason(folder, e));
      }
    }
    throw new FileSystemException(
        files.data().toString(),
        null,
        "it cannot be linked into any folder of the node daemon; one of them has to be in the same"
            + " mount: "
            + String.join("; ", reasons));
  }

  /** Executors in containers may have other mounts than the daemon. */
  private static String reason(ApplicationFolder folder, FileSystemException e) {
    return Files.isDirectory(folder.path())
        ? String.valueOf(e.getMessage())
        : folder.path() + " does not exist for this process";
  }

  private Committed commit(
      ApplicationFolder folder, int shuffleId, long mapId, MapOutputFiles.Files files)
      throws IOException {
    try {
      boolean isNew = folder.commit(shuffleId, mapId, files);
      Step undo = isNew ? () -> folder.remove(shuffleId, mapId) : () -> {};
      return new Committed(folders.indexOf(folder), undo);
    } catch (FileSystemException e) {
      // A single folder may be missing because this process does not mount it.
      if (folders.stream().map(ApplicationFolder::path).noneMatch(Files::isDirectory)) {
        close(); // The daemon has removed the application: enter again.
      }
      throw e;
    }
  }

  /**
   * A map output that was put into a folder.
   *
   * @param folder index of the folder
   * @param undo takes it out again, unless it was there before
   */
  record Committed(int folder, Step undo) {}

  /** Undoes a step. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  /** Returns true if a folder is missing, for example because the node had no room for it. */
  boolean lacksFolder() {
    return !folders.stream().map(ApplicationFolder::path).allMatch(Files::isDirectory);
  }

  /** Returns true unless the connection is known to be useless. */
  boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException _) {
      // The connection is useless, closed or not.
    }
  }
}
