package dev.sluice.blocks.node;

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
 * The folders that Spark makes for an executor's files, {@code blockmgr-*} in each of its local
 * directories. An executor has a file locked in its own as long as its process lives: the kernel
 * gives the lock back however that ends, and shows it to all containers that have the file. So the
 * node's block server sees which are of nobody any more; but not each kernel or file system shows
 * locks, so those alone of which it has once seen the lock. Whoever holds them closes this.
 */
public final class ExecutorFolders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorFolders.class);
  private static final String GLOB = "blockmgr-*";
  private static final String LOCK = ".sluice-executor";

  /** What the block server writes into a file that it has seen locked. */
  private static final byte[] SEEN = {'!'};

  /** By its file, which is locked as long as it is open. */
  private final Map<Path, FileChannel> locks = new HashMap<>();

  /** What is done with a folder. */
  @FunctionalInterface
  interface Removal {
    void remove(Path folder) throws IOException;
  }

  /**
   * They are of this process until this is closed, which leaves them to Spark, or the process ends.
   * Where a file cannot be locked nobody but Spark deletes the folder.
   */
  public static ExecutorFolders hold(List<Path> folders) {
    ExecutorFolders held = new ExecutorFolders();
    for (Path folder : folders) {
      try {
        held.lock(folder);
      } catch (IOException e) {
        LOG.debug("{} is not locked, and stays if this process is killed", folder, e);
      }
    }
    return held;
  }

  /** It is locked before it has its name, so that nobody ever finds it and could lock it. */
  private void lock(Path folder) throws IOException {
    Path unnamed = Files.createTempFile(folder, LOCK, null);
    Path named = folder.resolve(LOCK);
    FileChannel file = FileChannel.open(unnamed, StandardOpenOption.WRITE);
    locks.put(named, file);
    file.lock();
    Files.move(unnamed, named, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Removes those in a directory whose executors have ended, if one of its calls has seen them
   * locked before.
   *
   * @throws IOException when the directory cannot be read
   */
  static void removeDead(Path directory, Removal removal) throws IOException {
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
      } else if (Files.size(named) > 0) { // By name: its executor may live on without it.
        removal.remove(folder);
        LOG.info("{} was a dead executor's and is deleted", folder);
      }
    } catch (NoSuchFileException | AccessDeniedException | OverlappingFileLockException e) {
      LOG.debug("{} may be a living executor's, another user's or this process's", folder, e);
    } catch (IOException e) {
      LOG.warn("{} is left for now: {}", folder, e.toString());
    }
  }

  @Override
  public void close() {
    locks.forEach(
        (file, lock) -> {
          try {
            Files.deleteIfExists(file); // The process may live on: first of all nobody finds it.
            lock.close();
          } catch (IOException e) {
            LOG.debug("{} stays locked", file, e);
          }
        });
  }
}
