// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of YARN's local directories, in which files of a job are looked for, opened and read. One
 * thread at a time waits for its disk. If that thread gets no answer, the others go on without the
 * directory until it gets one. A disk that hangs therefore keeps one of the threads that open map
 * outputs. {@link JobFiles} makes it. Any thread; callers wait for the disk.
 */
final class JobDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(JobDirectory.class);

  /** Limit of the wait for another thread, shorter than readers wait for their map outputs. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Permission of one thread to wait for the disk, which that thread gives back. */
  @FunctionalInterface
  interface Turn extends AutoCloseable {
    @Override
    void close();
  }

  private final Path path;
  private final ReentrantLock lock = new ReentrantLock();

  /** True while the thread that has its turn is known to get no answer. */
  private volatile boolean late;

  JobDirectory(Path path) {
    this.path = path;
  }

  Path path() {
    return path;
  }

  /** Waits for the turn of this thread; returns null while the disk does not answer. */
  @Nullable Turn await() {
    return isTaken() ? null : this::giveBack;
  }

  private void giveBack() {
    if (late) {
      late = false;
      LOG.info("{} answers again; map outputs there are found", path);
    }
    lock.unlock();
  }

  private boolean isTaken() {
    try {
      if (late ? lock.tryLock() : lock.tryLock(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        return false;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
    if (!late) {
      late = true;
      LOG.warn(
          "{} does not answer within {} ms. Until it does, map outputs of MapReduce there are not"
              + " found, and readers get them from Hadoop's own shuffle. Its disk may hang",
          path,
          TIMEOUT.toMillis());
    }
    return true;
  }
}
