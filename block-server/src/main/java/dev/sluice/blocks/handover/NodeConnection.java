// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.handover.NodeClient.NodeEndpoint;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Connection of an executor to one run of the node daemon, with the folders that the daemon gave
 * it. {@link NodeClient} opens it. The first failure that makes it useless closes it, and {@link
 * NodeClient} then opens another one. Any thread; requests are answered one after the other.
 */
final class NodeConnection implements AutoCloseable {
  private final NodeChannel channel;
  private final NodeEndpoint endpoint;
  private final List<HandOverFolder> folders;

  /** Folder that takes links to files of a directory, found by one trial. */
  private final ConcurrentHashMap<Path, HandOverFolder> chosen = new ConcurrentHashMap<>();

  /** The daemon refuses, for this reason. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
      super(reason);
    }
  }

  /**
   * Connects and enters.
   *
   * @param user user of the daemon, besides this process's own
   * @param deadlineNanos of {@link System#nanoTime}
   * @throws RefusedException if the daemon does not serve the application, or runs as another user
   * @throws IOException if no daemon listens, or it does not answer by then
   */
  NodeConnection(Path socket, Optional<String> user, RegisterExecutor enter, long deadlineNanos)
      throws IOException {
    channel = NodeChannel.connect(socket);
    boolean opened = false;
    try {
      boolean isOwn = isOwn(user);
      Registered entered = ask(enter, Registered.class, deadlineNanos);
      endpoint =
          new NodeEndpoint(
              new PeerAddress(entered.nodeId(), entered.host(), entered.port()),
              entered.provider());
      folders = entered.folders().stream().map(folder -> folder(Path.of(folder), isOwn)).toList();
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  /**
   * Returns true if the daemon runs as this process's user. Any process that may write to the
   * socket's folder may listen there, so the user is checked before the secret is sent.
   */
  private boolean isOwn(Optional<String> user) throws IOException {
    UserPrincipal self = NodeSocket.self();
    UserPrincipal peer = channel.peer();
    boolean isOwn = peer.equals(self);
    if (!isOwn && !user.equals(Optional.of(peer.getName()))) {
      throw new RefusedException(
          "the process that listens there runs as %s, not as %s; if it is the node daemon, set %s=%s"
              .formatted(peer, self, ExecutorSettings.NODE_USER.key(), peer));
    }
    return isOwn;
  }

  private static HandOverFolder folder(Path path, boolean isOwn) {
    return isOwn ? new ApplicationFolder(path) : new Inbox(path);
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
      Object answer = channel.ask(request, deadlineNanos);
      if (answer instanceof Refused(String reason)) {
        throw new RefusedException(reason);
      }
      if (!wanted.isInstance(answer)) {
        throw new IOException("unexpected answer: " + answer);
      }
      return wanted.cast(answer);
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

  /**
   * Puts the map output into the folder that takes links to its data file, and tells the daemon.
   * Takes it out again if the daemon does not accept it, unless it was there before.
   *
   * @param answer limit of the daemon's answer; the folders' disks may take longer
   * @throws FileSystemException if no folder takes it, with the reason of each
   * @throws IOException as {@link #ask} does
   */
  void handOver(int shuffleId, long mapId, MapOutputFiles.Files files, Duration answer)
      throws IOException {
    Path directory = requireNonNull(files.data().getParent());
    HandOverFolder known = chosen.get(directory);
    List<String> reasons = new ArrayList<>();
    for (HandOverFolder folder : known == null ? folders : List.of(known)) {
      boolean isNew;
      try {
        isNew = folder.commit(shuffleId, mapId, files);
      } catch (FileSystemException e) {
        reasons.add(reason(folder, e));
        continue;
      }
      chosen.put(directory, folder);
      tell(folder, isNew, shuffleId, mapId, answer);
      return;
    }
    // A single folder may be missing because this process does not mount it.
    if (folders.stream().noneMatch(NodeConnection::exists)) {
      close(); // The daemon has removed the application: enter again.
    }
    String reason =
        known == null
            ? "it cannot be linked into any folder of the node daemon; one of them has to be in the"
                + " same mount: "
            : "it cannot be put into the node daemon's folder: ";
    throw new FileSystemException(
        files.data().toString(), null, reason + String.join("; ", reasons));
  }

  private void tell(
      HandOverFolder folder, boolean isNew, int shuffleId, long mapId, Duration answer)
      throws IOException {
    HandOver handOver = new HandOver(shuffleId, mapId, folders.indexOf(folder));
    try {
      ask(handOver, Accepted.class, System.nanoTime() + answer.toNanos());
    } catch (IOException | RuntimeException | Error e) {
      if (isNew) {
        folder.removeAfter(e, shuffleId, mapId);
      }
      throw e;
    }
  }

  /** Executors in containers may have other mounts than the daemon. */
  private static String reason(HandOverFolder folder, FileSystemException e) {
    return exists(folder)
        ? String.valueOf(e.getMessage())
        : folder.path() + " does not exist for this process";
  }

  private static boolean exists(HandOverFolder folder) {
    return Files.isDirectory(folder.path());
  }

  /** Returns true if a folder is missing, for example because the node had no room for it. */
  boolean lacksFolder() {
    return !folders.stream().allMatch(NodeConnection::exists);
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
