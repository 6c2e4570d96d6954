// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static java.util.Objects.requireNonNull;

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
 * Starts the executor's runtime when the first task or map output needs it. The start runs on a
 * thread of its own for two reasons. On a task's thread, killing that task would interrupt the
 * start and fail it for all other tasks. And it may hang, because it probes disks and devices.
 * {@code SluiceShuffle} makes and closes it. Tasks' threads wait for it; a transport thread that
 * takes a migrated map output only begins the start. At most one runtime is given to tasks; one
 * that comes too late is closed.
 */
public final class LazyRuntime implements AutoCloseable {
  /** Steps of a start. */
  public interface Starter {
    /** Starts the runtime. Called once, on the thread {@code sluice-start}. */
    SluiceRuntime start() throws Exception;

    /**
     * Returns a substitute runtime after {@link #start} has thrown or timed out. Called once at
     * most, on {@code sluice-start} or a task's thread; tasks wait for it.
     *
     * @throws RuntimeException if there is no substitute; each task fails with this reason
     */
    SluiceRuntime startWithout(Throwable cause);

    /** Called with the runtime, before tasks get it. If it throws, the runtime is closed. */
    void started(SluiceRuntime runtime);

    /** Called when there is no runtime; tasks know it by then. */
    void failed(Throwable reason);
  }

  private final Starter starter;
  private final long timeoutMs;
  private final CompletableFuture<SluiceRuntime> start = new CompletableFuture<>();

  /**
   * Picks the one thread that runs the starter's last steps and completes {@code start}: {@code
   * sluice-start}, or a task whose wait has timed out.
   */
  private final AtomicBoolean decided = new AtomicBoolean();

  /** True once a start was asked for; guarded by this. */
  private boolean asked;

  /** True from the close on, after which no start begins; guarded by this. */
  private boolean closed;

  /**
   * @param timeoutMs how long a start may take, in milliseconds; the starting thread closes a
   *     runtime that comes later
   */
  public LazyRuntime(Starter starter, long timeoutMs) {
    this.starter = starter;
    this.timeoutMs = timeoutMs;
  }

  /** Returns the runtime; empty before it has started, or if its start failed. Never waits. */
  public Optional<SluiceRuntime> ifStarted() {
    boolean started = start.isDone() && !start.isCompletedExceptionally();
    return started ? Optional.of(start.join()) : Optional.empty();
  }

  /**
   * Returns the runtime. Waits for its start, for twice the limit of a start at most.
   *
   * @throws IllegalStateException if it could not start, with the reason, for each caller
   */
  public SluiceRuntime get() {
    askForStart();
    try {
      try {
        return start.get(timeoutMs, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        IOException late = new IOException("the start took longer than " + timeoutMs + " ms", e);
        decide(() -> starter.startWithout(late));
        return start.get(timeoutMs, TimeUnit.MILLISECONDS); // another task is deciding
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(requireNonNull(e.getCause()).getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("the shuffle's runtime did not start in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          "interrupted while waiting for the shuffle's runtime to start", e);
    }
  }

  /** Triggers the start. The result completes with the started runtime. Never blocks. */
  public CompletableFuture<SluiceRuntime> begin() {
    askForStart();
    return start.copy();
  }

  private synchronized void askForStart() {
    if (asked || closed) {
      return;
    }
    asked = true;
    // This thread starts the runtime's threads, which outlive each task. Therefore it must not
    // inherit a task's class loader.
    DaemonThreads.named("sluice-start").newThread(this::run).start();
  }

  private void run() {
    try {
      SluiceRuntime started = starter.start();
      if (!decide(() -> started)) {
        started.close();
      }
    } catch (Throwable e) { // A start without RDMA must not end the executor.
      decide(() -> starter.startWithout(e));
    }
  }

  /**
   * Decides the outcome once: either the start does it, or a task whose wait has timed out.
   *
   * @param chosen makes the runtime, or throws if there is none
   * @return true if this call decided; otherwise {@code chosen} is not called
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
      start.completeExceptionally(new IllegalStateException("the executor is stopping"));
      return;
    }
    try {
      get().close();
    } catch (IllegalStateException e) {
      // The start failed, as its users know, or the wait for it: closes a runtime that comes later.
      start.thenAccept(SluiceRuntime::close);
    }
  }
}
