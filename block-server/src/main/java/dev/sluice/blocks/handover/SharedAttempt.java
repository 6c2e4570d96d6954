// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;

/**
 * Runs work once for all tasks that need it at a time. Tasks that arrive meanwhile wait for the
 * running attempt; after a failure the next task starts another one. The work runs on a virtual
 * thread of its own, since any of the tasks may be killed. A {@link NodeClient} connects by one,
 * and the executor's {@code NodeHandOver} publishes by another. Callers' threads wait without the
 * lock.
 */
public final class SharedAttempt<T> implements AutoCloseable {
  private final Executor threads;
  private final Callable<T> work;

  /** Guarded by this. */
  private Optional<FutureTask<T>> last = Optional.empty();

  /**
   * @param threads runs each attempt on a thread of its own
   * @param work ends within a deadline of its own
   */
  public SharedAttempt(Executor threads, Callable<T> work) {
    this.threads = threads;
    this.work = work;
  }

  /**
   * Returns the result of the work, which runs again unless the last result is still good.
   *
   * @param isGood judges the last result; called with the lock, so it must not block
   * @throws IOException if the work failed, with its message, or could not be started, or the
   *     caller was interrupted
   */
  public T get(Predicate<T> isGood) throws IOException {
    try {
      return attempt(isGood).get();
    } catch (ExecutionException e) {
      throw new IOException(requireNonNull(e.getCause()).getMessage(), e.getCause());
    } catch (CancellationException e) {
      throw new IOException("the executor is stopping", e);
    } catch (OutOfMemoryError e) {
      throw new IOException("cannot start a thread for the node daemon: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for the node daemon", e);
    }
  }

  private synchronized Future<T> attempt(Predicate<T> isGood) {
    boolean goesOn =
        last.filter(
                attempt ->
                    switch (attempt.state()) {
                      case RUNNING -> true;
                      case SUCCESS -> isGood.test(attempt.resultNow());
                      case FAILED, CANCELLED -> false;
                    })
            .isPresent();
    if (!goesOn) {
      FutureTask<T> next = new FutureTask<>(work);
      threads.execute(next); // Without a thread it throws, and the next call tries again.
      last = Optional.of(next);
    }
    return last.get();
  }

  /** Interrupts the running attempt. Does not wait. */
  @Override
  public synchronized void close() {
    last.ifPresent(attempt -> attempt.cancel(true));
  }
}
