// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.node.NodeDaemon.TidyThread;
import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Application known to a node, whether it is served or could not be opened yet. {@link
 * Applications} makes and closes it. It exists until its folders are put away. Any thread. Waits
 * for the application's own disks with its lock held, and so delays only that application's
 * executors.
 */
final class Application implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Application.class);

  /** Pause between attempts to make missing folders. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Opens the parts that serve an application. */
  @FunctionalInterface
  interface Opener {
    /**
     * @param end called when the driver says that the application is over; never blocks
     */
    ServedApplication open(ApplicationState state, List<ApplicationFolder> folders, Runnable end)
        throws IOException;
  }

  private final NodeFolders folders;
  private final NodeJobs jobs;
  private final Opener opener;
  private final Runnable over;
  private final Runnable gone;
  private final long knownSinceNanos = System.nanoTime();
  private final AtomicBoolean tidying = new AtomicBoolean();

  /** Written with the lock held, as {@link #served} is. */
  private volatile ApplicationState state;

  /** Null while the application is not served. */
  private volatile @Nullable ServedApplication served;

  /**
   * {@link #close} writes it and then reads {@link #served}; {@link #serve} does the reverse. One
   * of them therefore closes what was opened meanwhile.
   */
  private volatile boolean closed;

  /** Number of its folders that exist; guarded by this. */
  private int made;

  /** Time of the last attempt to make them; guarded by this. */
  private long madeNanos;

  /** Guarded by this. */
  private boolean ended;

  private volatile long lastScanNanos = System.nanoTime();

  /**
   * @param over called when the driver says that the application is over
   * @param gone called when another application may have its name
   */
  Application(
      NodeFolders folders, Opener opener, ApplicationState state, Runnable over, Runnable gone) {
    this.folders = folders;
    this.jobs = new NodeJobs(folders);
    this.opener = opener;
    this.state = state;
    this.over = over;
    this.gone = gone;
  }

  ApplicationState state() {
    return state;
  }

  /** The served application; null while it is not served. */
  @Nullable ServedApplication served() {
    return served;
  }

  /**
   * Lets an executor in.
   *
   * @param first state that the application would have if the executor were its first
   * @return null if the application has just ended, and another one may come
   * @throws IOException if the executor is refused, with the reason
   */
  synchronized @Nullable ServedApplication enter(ApplicationState first) throws IOException {
    if (ended) {
      return null;
    }
    if (!state.hasSecret(first.secret())) {
      throw new IOException("the secret is not that of application " + state.name());
    }
    if (!state.hasUserOf(first)) {
      throw new IOException("application %s belongs to another user".formatted(state.name()));
    }
    open();
    return served;
  }

  /** Serves it if it is not served yet, and retries to make folders on disks without room. */
  synchronized void open() throws IOException {
    if (ended || closed || served != null && !mayGetFolder()) {
      return;
    }
    int before = made;
    madeNanos = System.nanoTime();
    made = folders.make(state);
    if (served == null) {
      serve();
    } else if (made > before) {
      write(state);
    }
  }

  /** Executors enter again every ten seconds, and whenever they cannot link a map output. */
  private boolean mayGetFolder() {
    return made < folders.roots().size() && System.nanoTime() - madeNanos >= PAUSE_NANOS;
  }

  private void serve() throws IOException {
    ServedApplication opened = opener.open(state, folders.of(state.name()), this::endSoon);
    boolean written = false;
    try {
      write(opened.state());
      written = true;
    } finally {
      if (!written) {
        opened.close();
      }
    }
    boolean wasHere = state.port() != 0;
    state = opened.state();
    served = opened;
    if (closed) {
      opened.close();
      return;
    }
    LOG.info("Application {} is served", state);
    if (wasHere) {
      NodeDisks.start(opened::scan);
    }
  }

  /** Writes the state. A full disk is no failure for an application that was here before. */
  private void write(ApplicationState opened) throws IOException {
    try {
      folders.write(opened);
    } catch (IOException e) {
      if (state.port() == 0) {
        throw e;
      }
      LOG.warn("Cannot write the state of {}; it may have another port after a restart", opened, e);
    }
  }

  /** Ends the application, as its driver asks. */
  private void endSoon() {
    over.run();
    TidyThread.start(state.name(), () -> end(Duration.ZERO));
  }

  /**
   * Removes the application if it was reported as over, or gave no sign of life for this time. Else
   * scans its folders when that is due. A MapReduce job gives no sign: it is not removed as long as
   * YARN has files of it. Works on another thread; never blocks.
   */
  void tidy(Duration expireAfter) {
    if (tidying.compareAndSet(false, true)) {
      TidyThread.start(
          state.name(),
          () -> {
            try {
              tidyNow(expireAfter);
            } finally {
              tidying.set(false);
            }
          });
    }
  }

  private void tidyNow(Duration expireAfter) throws IOException {
    boolean isSilent = silentNanos() >= expireAfter.toNanos();
    boolean scanIsDue = System.nanoTime() - lastScanNanos >= expireAfter.toNanos();
    if (folders.isEnded(state.name())) {
      over.run();
      end(Duration.ZERO);
    } else if (!jobs.hasFiles(state) && (isSilent || scanIsDue) && !end(expireAfter)) {
      scan();
    }
  }

  private long silentNanos() {
    ServedApplication application = served;
    return application == null ? System.nanoTime() - knownSinceNanos : application.silentNanos();
  }

  private void scan() {
    lastScanNanos = System.nanoTime();
    ServedApplication application = served;
    if (application != null) {
      application.scan();
    }
  }

  /**
   * Removes the application, unless it gave a sign of life within this time.
   *
   * @return true if it is removed
   */
  private boolean end(Duration silence) throws IOException {
    List<Path> removed;
    synchronized (this) {
      if (ended) {
        return true;
      }
      boolean isOver = served == null ? silentNanos() >= silence.toNanos() : served.end(silence);
      if (!isOver) {
        return false;
      }
      ended = true;
      try {
        close();
        removed = folders.remove(state);
      } finally {
        gone.run(); // A new application of that name waits for it.
      }
    }
    for (Path folder : removed) {
      try {
        folders.delete(folder);
      } catch (IOException e) {
        LOG.warn("Cannot delete {}; the next start of the daemon deletes it", folder, e);
      }
    }
    LOG.info("Application {} is removed", state.name());
    return true;
  }

  /** Stops serving; the folders stay. Idempotent. */
  @Override
  public void close() {
    closed = true;
    ServedApplication application = served;
    if (application != null) {
      application.close();
    }
  }
}
