package dev.sluice.spark;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;

/**
 * What tasks want done once for all of them: those that come meanwhile wait for the attempt that is
 * under way, and what has failed is tried again by who comes next. It runs on a thread of its own,
 * since any of the tasks may be killed. Any thread; nothing to close.
 */
final class SharedAttempt<T> {
  private final Callable<T> work;

  /** Guarded by this. */
  private Optional<FutureTask<T>> last = Optional.empty();

  /**
   * @param work ends within a deadline of its own
   */
  SharedAttempt(Callable<T> work) {
    this.work = work;
  }

  /**
   * What has come of the work, which is not done again where that is still good.
   *
   * @throws IOException where it failed, with its message, or the caller was interrupted
   */
  T get(Predicate<T> isGood) throws IOException {
    try {
      return attempt(isGood).get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the node's block server was waited for", e);
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
      last = Optional.of(new FutureTask<>(work));
      Thread.ofVirtual().inheritInheritableThreadLocals(false).start(last.get());
    }
    return last.get();
  }
}
