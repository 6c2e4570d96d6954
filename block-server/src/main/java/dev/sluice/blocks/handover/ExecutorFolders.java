// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders {@code blockmgr-*} that Spark makes for an executor's files, one in each of its local
 * directories. The executor keeps a file in each folder locked while its process lives. The kernel
 * releases the lock however the process ends, and shows it to all containers that see the file. The
 * node daemon deletes folders whose lock is gone. It has to see a folder locked first, since some
 * kernels and file systems do not show locks. An executor's runtime holds the folders and closes
 * this, on one thread at a time. The daemon calls {@link #removeDead} on its tidying thread.
 */
public final class ExecutorFolders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorFolders.class);
  private static final String GLOB = "blockmgr-*";
  private static final String LOCK = ".sluice-executor";

  /** Written by the node daemon into a file that it has seen locked. */
  private static final byte[] SEEN = {'!'};

  /** Open lock files by path; each is locked as long as it is open. */
  private final Map<Path, FileChannel> locks = new HashMap<>();

  /** Removes a folder. */
  @FunctionalInterface
  public interface Removal {
    void remove(Path folder) throws IOException;
  }

  /**
   * Locks folders of this process, until the process ends or this is closed, which leaves them to
   * Spark. If a file cannot be locked, only Spark deletes the folder.
   */
  public static ExecutorFolders hold(List<Path> folders) {
    ExecutorFolders held = new ExecutorFolders();
    for (Path folder : folders) {
      try {
        held.lock(folder);
      } catch (IOException e) {
        LOG.debug(
            "Cannot lock {}; no node daemon will delete it if this process is killed", folder, e);
      }
    }
    return held;
  }

  /** Locks the file before it has its name, so that no other process can find and lock it first. */
  private void lock(Path folder) throws IOException {
    Path unnamed = Files.createTempFile(folder, LOCK, null);
    Path named = folder.resolve(LOCK);
    FileChannel file = FileChannel.open(unnamed, StandardOpenOption.WRITE);
    locks.put(named, file);
    file.lock();
    Files.move(unnamed, named, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Removes the folders in a directory whose executors have ended. A folder has to be seen locked
   * by an earlier call.
   *
   * @throws IOException if the directory cannot be read
   */
  public static void removeDead(Path directory, Removal removal) throws IOException {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(directory, GLOB)) {
      for (Path folder : folders) {
        if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
          removeIfDead(folder, removal);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static void removeIfDead(Path folder, Removal removal) {
    Path named = folder.resolve(LOCK);
    try (FileChannel file =
            FileChannel.open(named, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
        FileLock lock = file.tryLock()) {
      if (lock == null) {
        file.write(ByteBuffer.wrap(SEEN), 0);
      } else if (Files.size(named) > 0) { // By name: a living executor may have deleted the file.
        removal.remove(folder);
        LOG.info("Deleted {} of an executor that has ended", folder);
      }
    } catch (NoSuchFileException | AccessDeniedException | OverlappingFileLockException e) {
      LOG.debug(
          "Keeping {}: it may belong to a running executor, another user or this process",
          folder,
          e);
    } catch (IOException e) {
      LOG.warn("Cannot check or delete {}; trying again later: {}", folder, e.toString());
    }
  }

  @Override
  public void close() {
    locks.forEach(
        (file, lock) -> {
          try {
            Files.deleteIfExists(file); // First: the process may live on, with an unlocked file.
            lock.close();
          } catch (IOException e) {
            LOG.debug("Cannot delete or unlock {}", file, e);
          }
        });
  }
}
