package dev.sluice.spark;

import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The executor's runtime, from the first task or map output on that needs it. It starts on a thread
 * of its own: on a task's, a kill of that task would interrupt it, and fail it for all others; and
 * it may hang, as what tries out disks and devices may. Tasks' threads wait; the shuffle manager
 * closes it.
 */
final class LazyRuntime implements AutoCloseable {
  /** How a runtime comes about. */
  interface Starter {
    /** Called once, on the runtime's own thread. */
    SluiceRuntime start() throws Exception;

    /**
     * What there is instead, where that throws, or takes too long. Called once at most; tasks wait
     * for it.
     *
     * @throws RuntimeException where there is nothing instead, with the reason for each task
     */
    SluiceRuntime startWithout(Throwable cause);

    /** This is the one, before tasks have it. */
    void started(SluiceRuntime runtime);

    /** There is none, which tasks know. */
    void failed(Throwable reason);
  }

  private final Starter starter;
  private final long timeoutMs;
  private final CompletableFuture<SluiceRuntime> start = new CompletableFuture<>();
  private final AtomicBoolean decided = new AtomicBoolean();
  private boolean asked;

  /** Guards against a task that comes while the executor stops. */
  private boolean closed;

  /**
   * @param timeoutMs how long a start may take, in milliseconds; what comes later is closed by the
   *     thread that started it
   */
  LazyRuntime(Starter starter, long timeoutMs) {
    this.starter = starter;
    this.timeoutMs = timeoutMs;
  }

  /** The runtime, as soon as it has started; none as long as it has not, or when it could not. */
  Optional<SluiceRuntime> ifStarted() {
    boolean started = start.isDone() && !start.isCompletedExceptionally();
    return started ? Optional.of(start.join()) : Optional.empty();
  }

  /**
   * The runtime; waits for its start, twice the limit of a start at most.
   *
   * @throws IllegalStateException when it could not start, with the reason, to each caller
   */
  SluiceRuntime get() {
    askForStart();
    try {
      try {
        return start.get(timeoutMs, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        IOException late = new IOException("it has not started within " + timeoutMs + " ms", e);
        decide(() -> starter.startWithout(late));
        return start.get(timeoutMs, TimeUnit.MILLISECONDS); // as another task decides
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("the shuffle's runtime does not start", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the shuffle's runtime started", e);
    }
  }

  /** Has it start; completes with it, once that has started. Never blocks. */
  CompletableFuture<SluiceRuntime> begin() {
    askForStart();
    return start.copy();
  }

  private synchronized void askForStart() {
    if (asked || closed) {
      return;
    }
    asked = true;
    // Its threads, which the runtime's are started by, are no task's: they outlive its loaders.
    Thread thread = DaemonThreads.named("sluice-start").newThread(this::run);
    thread.setContextClassLoader(LazyRuntime.class.getClassLoader());
    thread.start();
  }

  private void run() {
    try {
      SluiceRuntime started = starter.start();
      if (!decide(() -> started)) {
        started.close();
      }
    } catch (Throwable e) { // Nothing that RDMA lacks ends an executor.
      decide(() -> starter.startWithout(e));
    }
  }

  /**
   * Once: by the start, or by a task that has waited long enough.
   *
   * @param chosen makes the runtime, or throws where there is none
   * @return whether it was this call that decided; else nothing is made
   */
  private boolean decide(Supplier<SluiceRuntime> chosen) {
    if (!decided.compareAndSet(false, true)) {
      return false;
    }
    try {
      handOver(chosen.get());
    } catch (RuntimeException | Error e) {
      start.completeExceptionally(e);
      starter.failed(e);
    }
    return true;
  }

  private void handOver(SluiceRuntime runtime) {
    try {
      starter.started(runtime);
      start.complete(runtime);
    } catch (RuntimeException | Error e) {
      runtime.close();
      throw e;
    }
  }

  @Override
  public void close() {
    boolean starting;
    synchronized (this) {
      closed = true;
      starting = asked;
    }
    if (!starting) {
      start.completeExceptionally(new IllegalStateException("the executor stops"));
      return;
    }
    try {
      get().close();
    } catch (IllegalStateException e) {
      // It has not started, which its users were told, or this thread may not wait.
      start.thenAccept(SluiceRuntime::close);
    }
  }
}
