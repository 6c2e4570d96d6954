// SPDX-License-Identifier: Apache-2.0
package dev.sluice.yarn;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Daemon threads for work on the NodeManager's local directories, one for each. A NodeManager calls
 * its services on a thread that all containers need, so that thread must not wait for a disk that
 * hangs. {@link JobShuffleHandler} and {@link SluiceNodeService} have one each, and close it. Any
 * thread.
 */
public final class DirectoryThreads implements AutoCloseable {
  /** Limit of the time that a NodeManager's thread waits for disks. */
  public static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(DirectoryThreads.class);

  /** Limit of work that waits for a directory's thread. */
  private static final int MAX_WAITING = 100;

  private static final long IDLE_S = 10;

  /** Work on a directory. */
  @FunctionalInterface
  public interface Work {
    /** Returns true if it is done, false if there is nothing to do in this directory. */
    boolean in(Path directory) throws IOException;
  }

  /** A directory with its thread. */
  private static final class Lane {
    private final Path directory;
    private final long timeoutNanos;
    private final ThreadPoolExecutor thread;
    private final AtomicBoolean saysLate = new AtomicBoolean();

    /** Used by the lane's thread only. */
    private boolean saysFailure;

    private volatile long startedNanos;
    private volatile boolean works;

    Lane(Path directory, Duration timeout) {
      this.directory = directory;
      timeoutNanos = timeout.toNanos();
      thread =
          new ThreadPoolExecutor(
              1,
              1,
              IDLE_S,
              TimeUnit.SECONDS,
              new ArrayBlockingQueue<>(MAX_WAITING),
              work -> {
                Thread made = new Thread(work, "sluice-directory " + directory);
                made.setDaemon(true);
                return made;
              });
      thread.allowCoreThreadTimeOut(true);
    }

    /** Runs the work soon. Skips it while earlier work does not end. */
    void execute(String what, Work work, Answer answer) {
      if (works && System.nanoTime() - startedNanos > timeoutNanos) {
        isLate(what);
        answer.ended(false);
        return;
      }
      try {
        thread.execute(
            () -> {
              boolean done = false;
              try {
                done = run(what, work);
              } finally {
                answer.ended(done);
              }
            });
      } catch (RejectedExecutionException e) { // too much waits, or it is closed
        if (!thread.isShutdown()) {
          isLate(what);
        }
        answer.ended(false);
      }
    }

    private boolean run(String what, Work work) {
      startedNanos = System.nanoTime();
      works = true;
      try {
        boolean done = work.in(directory);
        saysFailure = false;
        return done;
      } catch (IOException | RuntimeException e) {
        if (saysFailure) {
          LOG.debug("In {}, {} failed", directory, what, e);
        } else {
          LOG.warn(
              "In {}, {} failed; going on without this directory. Later failures there are logged"
                  + " at level DEBUG until the directory can be used",
              directory,
              what,
              e);
        }
        saysFailure = true;
        return false;
      } finally {
        works = false;
        if (saysLate.getAndSet(false)) {
          LOG.info("{} answers again", directory);
        }
      }
    }

    /** Logs that the directory does not answer, unless that was logged already. */
    void isLate(String what) {
      if (!saysLate.getAndSet(true)) {
        LOG.warn(
            "{} does not answer in {} ms; going on without it while {}. It is left alone until it"
                + " answers; its disk may hang",
            directory,
            TimeUnit.NANOSECONDS.toMillis(timeoutNanos),
            what);
      }
    }
  }

  /** Waits until the work is done in one directory, or has ended in all. */
  private static final class Answer {
    private final AtomicInteger left;
    private final CompletableFuture<Boolean> any = new CompletableFuture<>();

    Answer(int directories) {
      left = new AtomicInteger(directories);
    }

    void ended(boolean done) {
      if (done) {
        any.complete(true);
      }
      if (left.decrementAndGet() == 0) {
        any.complete(false);
      }
    }
  }

  private final List<Lane> lanes;
  private final Duration timeout;

  /**
   * @param timeout limit of the time that a caller waits
   */
  public DirectoryThreads(List<Path> directories, Duration timeout) {
    this.timeout = timeout;
    lanes =
        directories.stream()
            .map(directory -> new Lane(directory, timeout))
            .collect(Collectors.toList());
  }

  /**
   * Does the work on each directory that answers. Returns when it is done in one of them, and
   * leaves the others to their threads. A failure is logged.
   *
   * @param what the work in words
   * @return false if no directory has done it in time
   */
  public boolean onEach(String what, Work work) {
    Answer answer = new Answer(lanes.size() + 1);
    lanes.forEach(lane -> lane.execute(what, work, answer));
    answer.ended(false); // Counts this call, as there may be no directory.
    try {
      return answer.any.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      lanes.stream().filter(lane -> lane.works).forEach(lane -> lane.isLate(what));
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // It is never completed so.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** Takes no more work. Waits for the rest, as long as a caller does. Idempotent. */
  @Override
  public void close() {
    lanes.forEach(lane -> lane.thread.shutdown());
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    try {
      for (Lane lane : lanes) {
        lane.thread.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
