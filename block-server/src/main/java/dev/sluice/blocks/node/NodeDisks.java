package dev.sluice.blocks.node;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * The node's folders on each of its file systems. One that fails or does not answer holds nobody up
 * for long, and leaves the others in use. Any thread.
 */
final class NodeDisks {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDisks.class);

  /** Less than readers and tasks wait for a daemon that is being started. */
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The same of the same file system is said again. */
  private static final long AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Something to be done on a file system. */
  @FunctionalInterface
  interface Step<T> {
    T on(Path root) throws IOException;
  }

  /** What no other file system makes good. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String reason) {
      super(reason);
    }
  }

  private final List<Path> roots;

  /** What those did not answer to that are left alone until they have. */
  private final Map<Path, FutureTask<?>> unanswered = new ConcurrentHashMap<>();

  /** What is said of a file system, which may be tried every second for each application. */
  private record Failure(String reason, long nanos) {}

  private final Map<Path, Failure> said = new ConcurrentHashMap<>();

  NodeDisks(List<Path> roots) {
    this.roots = new CopyOnWriteArrayList<>(roots);
  }

  List<Path> roots() {
    return roots;
  }

  /** Those that have answered whatever they were asked, as far as is known. */
  List<Path> answering() {
    unanswered.values().removeIf(Future::isDone);
    return roots.stream().filter(root -> !unanswered.containsKey(root)).toList();
  }

  /**
   * Does it on each that is {@link #answering}, on threads of their own. One that does not answer
   * in time is left alone until it has, so that no more and more threads wait for it.
   *
   * @return the results of those on which it could be done, in their order
   * @throws IOException where there is none, with the reasons
   */
  <T> List<T> onEach(String what, Step<T> step) throws IOException {
    return on(answering(), what, step);
  }

  /** As {@link #onEach}, also on those that are left alone. */
  <T> List<T> onAll(String what, Step<T> step) throws IOException {
    return on(roots, what, step);
  }

  private <T> List<T> on(List<Path> some, String what, Step<T> step) throws IOException {
    Map<Path, FutureTask<T>> tasks = new LinkedHashMap<>();
    for (Path root : some) {
      FutureTask<T> task = new FutureTask<>(() -> step.on(root));
      Thread.ofPlatform().daemon().name("sluice-node-disk").start(task);
      tasks.put(root, task);
    }
    long deadlineNanos = System.nanoTime() + TIMEOUT_NANOS;
    List<T> results = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    for (Map.Entry<Path, FutureTask<T>> task : tasks.entrySet()) {
      Path root = task.getKey();
      try {
        results.add(task.getValue().get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS));
      } catch (TimeoutException e) {
        LOG.error("{} does not answer in {}, and is left alone until it has", root, what);
        unanswered.put(root, task.getValue());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RefusedException refused) {
          throw refused;
        }
        say(root, what, e.getCause());
        reasons.add(e.getCause().toString());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted in " + what, e);
      }
    }
    if (results.isEmpty()) {
      unanswered.keySet().forEach(root -> reasons.add(root + " does not answer"));
      throw new IOException("%s failed: %s".formatted(what, String.join("; ", reasons)));
    }
    return results;
  }

  private void say(Path root, String what, Throwable failure) {
    boolean isOfFiles = failure instanceof FileSystemException;
    String reason = isOfFiles ? ((FileSystemException) failure).getReason() : failure.toString();
    Failure last = said.get(root);
    Failure next = new Failure(reason, System.nanoTime());
    if (last == null
        || !Objects.equals(last.reason(), reason)
        || next.nanos() - last.nanos() >= AGAIN_NANOS) {
      said.put(root, next);
      LOG.error("Below {} {} failed: {}; the others do without it", root, what, failure.toString());
    }
  }
}
