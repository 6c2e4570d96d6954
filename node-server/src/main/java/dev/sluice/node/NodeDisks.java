// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.rdma.RateLimitedLog;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File systems with the node's folders. One that fails or does not answer delays callers only for a
 * short time, and the others stay in use. {@link NodeFolders} has one, and makes another to open
 * its roots; {@link NodeCheck} makes one for each directory. Any thread. A step may end long after
 * its caller has gone on.
 */
final class NodeDisks {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDisks.class);

  /** Shorter than readers and tasks wait for a daemon that is starting. */
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Number of failures to remember, so as not to repeat them within a minute. */
  private static final int MAX_FAILURES = 100;

  /** Work on a file system. */
  @FunctionalInterface
  interface Step<T> {
    T on(Path root) throws IOException;
  }

  /** Failure that no other file system makes up for. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
      super(reason);
    }
  }

  private final List<Path> roots;

  /** Unanswered work by root. The root is left alone until it has answered. */
  private final Map<Path, FutureTask<?>> unanswered = new ConcurrentHashMap<>();

  /** Failures by root and reason. A root may be tried every second for each application. */
  private final RateLimitedLog failed = new RateLimitedLog(Duration.ofMinutes(1), MAX_FAILURES);

  NodeDisks(List<Path> roots) {
    this.roots = new CopyOnWriteArrayList<>(roots);
  }

  List<Path> roots() {
    return roots;
  }

  /** Roots without unanswered work, as far as is known. */
  List<Path> answering() {
    unanswered.values().removeIf(Future::isDone);
    return roots.stream().filter(root -> !unanswered.containsKey(root)).toList();
  }

  /**
   * Does the work on each root that is {@link #answering}, on a thread for each. A root that does
   * not answer in time is left alone until it has, so that threads do not pile up.
   *
   * @return the results of roots that succeeded, in the order of the roots
   * @throws IOException if none succeeded, with the reasons
   */
  <T> List<T> onEach(String what, Step<T> step) throws IOException {
    return on(answering(), what, step);
  }

  /** The same as {@link #onEach}, also on roots that are left alone. */
  <T> List<T> onAll(String what, Step<T> step) throws IOException {
    return on(roots, what, step);
  }

  private <T> List<T> on(List<Path> some, String what, Step<T> step) throws IOException {
    Map<Path, FutureTask<T>> tasks = new LinkedHashMap<>();
    for (Path root : some) {
      FutureTask<T> task = new FutureTask<>(() -> step.on(root));
      start(task);
      tasks.put(root, task);
    }
    long deadlineNanos = System.nanoTime() + TIMEOUT_NANOS;
    List<T> results = new ArrayList<>();
    Map<Path, Throwable> failures = new LinkedHashMap<>();
    for (Map.Entry<Path, FutureTask<T>> task : tasks.entrySet()) {
      Path root = task.getKey();
      try {
        results.add(task.getValue().get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS));
      } catch (TimeoutException e) {
        LOG.error(
            "{} does not answer in time while {}; it is not used until it answers", root, what);
        unanswered.put(root, task.getValue());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RefusedException refused) {
          throw refused;
        }
        failures.put(root, e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while " + what, e);
      }
    }
    if (results.isEmpty()) {
      List<String> reasons = new ArrayList<>();
      failures.values().forEach(failure -> reasons.add(failure.toString()));
      unanswered.keySet().forEach(root -> reasons.add(root + " does not answer"));
      throw new IOException("%s failed: %s".formatted(what, String.join("; ", reasons)));
    }
    failures.forEach((root, failure) -> say(root, what, failure));
    return results;
  }

  /**
   * Starts work that may wait for a disk for ever, on a daemon thread of its own. Virtual threads
   * would hold up all others.
   */
  static Thread start(Runnable work) {
    return Thread.ofPlatform().daemon().name("sluice-node-disk").start(work);
  }

  private void say(Path root, String what, Throwable failure) {
    boolean isOfFiles = failure instanceof FileSystemException;
    String reason = isOfFiles ? ((FileSystemException) failure).getReason() : failure.toString();
    if (failed.add(root + ": " + reason, System.nanoTime()) > 0) {
      LOG.error(
          "In {}, {} failed: {}; going on without this directory", root, what, failure.toString());
    }
  }
}
