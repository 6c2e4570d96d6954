package dev.sluice.spark;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The executor's runtime, from the first task on that needs it. It starts on a thread of its own:
 * on a task's, a kill of that task would interrupt it, and fail it for all others. Tasks' threads
 * wait; the shuffle manager closes it.
 */
final class LazyRuntime implements AutoCloseable {
  private static final long START_TIMEOUT_MS = 60_000;

  private final FutureTask<SluiceRuntime> start;
  private boolean asked;

  /** Guards against a task that comes while the executor stops. */
  private boolean closed;

  private volatile SluiceRuntime started;

  /**
   * @param starter called once
   */
  LazyRuntime(Callable<SluiceRuntime> starter) {
    this.start =
        new FutureTask<>(
            () -> {
              started = starter.call();
              return started;
            });
  }

  /** The runtime, as soon as it has started; null as long as it has not, or when it could not. */
  SluiceRuntime ifStarted() {
    return started;
  }

  /**
   * The runtime; waits for its start.
   *
   * @throws IllegalStateException when it could not start, with the reason, to each caller
   */
  SluiceRuntime get() {
    SluiceRuntime runtime = started;
    if (runtime != null) {
      return runtime;
    }
    askForStart();
    try {
      return start.get(START_TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "the shuffle's runtime has not started within " + START_TIMEOUT_MS + " ms", e);
    } catch (CancellationException e) {
      throw new IllegalStateException("the executor stops", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the shuffle's runtime started", e);
    }
  }

  private synchronized void askForStart() {
    if (!asked && !closed) {
      asked = true;
      Thread.ofPlatform().daemon().name("sluice-start").start(start);
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
      start.cancel(false);
      return;
    }
    try {
      get().close();
    } catch (IllegalStateException e) {
      // It has not started, which its users were told.
    }
  }
}
