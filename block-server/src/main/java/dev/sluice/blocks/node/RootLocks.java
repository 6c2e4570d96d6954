package dev.sluice.blocks.node;

import dev.sluice.blocks.node.NodeDisks.RefusedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders that are this daemon's alone as long as this is open, and its user's. Any thread; {@link
 * NodeFolders} closes it.
 */
final class RootLocks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RootLocks.class);
  private static final String LOCK = "lock";
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final List<FileChannel> locks = new CopyOnWriteArrayList<>();

  /** Makes a folder that no other user looks into. */
  static Path makeFolder(Path folder) throws IOException {
    return Files.createDirectory(folder, OWNER_ALONE);
  }

  /**
   * Makes it, where it is missing.
   *
   * @throws RefusedException when it is another daemon's, or may be another user's
   */
  void lock(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      makeFolder(root);
    }
    checkOwn(root);
    FileChannel lock =
        FileChannel.open(root.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    locks.add(lock);
    boolean locked;
    try {
      locked = lock.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      locked = false; // this process itself
    }
    if (!locked) {
      throw new RefusedException(root + " is another daemon's");
    }
  }

  /** Somebody else may have made it, to look at what is put there, or to put something there. */
  private static void checkOwn(Path root) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      throw new RefusedException(root + " is no directory but a link or a file");
    }
    if (!attributes.owner().equals(MessageChannel.self())) {
      throw new RefusedException("%s is another user's (%s)".formatted(root, attributes.owner()));
    }
    if (!OWNER_ALONE.value().containsAll(attributes.permissions())) {
      throw new RefusedException(
          "%s is open to others (%s): it has to be %s"
              .formatted(
                  root,
                  PosixFilePermissions.toString(attributes.permissions()),
                  PosixFilePermissions.toString(OWNER_ALONE.value())));
    }
  }

  @Override
  public void close() {
    for (FileChannel lock : locks) {
      try {
        lock.close();
      } catch (IOException e) {
        LOG.warn("A lock could not be closed", e);
      }
    }
  }
}
