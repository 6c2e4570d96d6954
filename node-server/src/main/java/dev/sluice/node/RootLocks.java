// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.handover.NodeSocket;
import dev.sluice.node.NodeDisks.RefusedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks of folders that only this daemon may use, and only its user may access. Any thread; {@link
 * NodeFolders} or {@link NodeCheck} creates and closes it.
 */
final class RootLocks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RootLocks.class);
  private static final String LOCK = "lock";
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** Guarded by this. */
  private final List<FileChannel> locks = new ArrayList<>();

  /** Guarded by this. */
  private boolean closed;

  /** Makes a folder that no other user has access to. */
  static Path makeFolder(Path folder) throws IOException {
    return Files.createDirectory(folder, OWNER_ALONE);
  }

  /**
   * Locks a root, which is made if it is missing.
   *
   * @throws RefusedException if another daemon has it, or another user may have access
   */
  void lock(Path root) throws IOException {
    Path directory = requireNonNull(root.getParent());
    if (!Files.isDirectory(directory)) {
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "not a directory (%s)".formatted(NodeSettings.DIRECTORIES.key()));
    }
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      makeFolder(root);
    }
    Optional<String> reason = reasonAgainst(root, OWNER_ALONE.value());
    if (reason.isPresent()) {
      throw new RefusedException(reason.get());
    }
    FileChannel lock =
        FileChannel.open(root.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    add(lock);
    boolean locked;
    try {
      locked = lock.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      locked = false; // locked by this process itself
    }
    if (!locked) {
      throw new RefusedException(root + " is in use by another daemon");
    }
  }

  /** A folder that answered too late must not stay locked. */
  private synchronized void add(FileChannel lock) throws IOException {
    if (closed) {
      lock.close();
      throw new IOException("the daemon is closed");
    }
    locks.add(lock);
  }

  /**
   * Returns why a folder is not the daemon's own: another user may have made it, to read files
   * there or to plant some. Empty if it is.
   *
   * @param allowed the permissions that it may have
   */
  static Optional<String> reasonAgainst(Path root, Set<PosixFilePermission> allowed)
      throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      return Optional.of(root + " is a link or a file, not a directory");
    }
    if (!attributes.owner().equals(NodeSocket.self())) {
      return Optional.of("%s belongs to another user (%s)".formatted(root, attributes.owner()));
    }
    if (!allowed.containsAll(attributes.permissions())) {
      return Optional.of(
          "%s is accessible to other users (%s): its permissions have to be %s"
              .formatted(
                  root,
                  PosixFilePermissions.toString(attributes.permissions()),
                  PosixFilePermissions.toString(allowed)));
    }
    return Optional.empty();
  }

  @Override
  public synchronized void close() {
    closed = true;
    for (FileChannel lock : locks) {
      try {
        lock.close();
      } catch (IOException e) {
        LOG.warn("Closing a lock file failed", e);
      }
    }
  }
}
