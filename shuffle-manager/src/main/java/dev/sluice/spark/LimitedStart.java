package dev.sluice.spark;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A start that may hang, as one that tries out disks and devices may. What starts too late is
 * closed by the thread that started it.
 */
final class LimitedStart {
  private LimitedStart() {}

  /**
   * Runs {@code starter} on a daemon thread of its own.
   *
   * @throws IOException when it takes longer than {@code timeoutMs} milliseconds
   * @throws Exception what {@code starter} throws; as the cause of another one where it is an Error
   */
  static <T extends AutoCloseable> T call(Callable<T> starter, long timeoutMs) throws Exception {
    CompletableFuture<T> starting = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("sluice-start-parts").start(() -> run(starter, starting));
    try {
      return starting.get(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } catch (TimeoutException e) {
      IOException late = new IOException("it has not started within " + timeoutMs + " ms", e);
      if (starting.completeExceptionally(late)) {
        throw late;
      }
      return starting.get(); // in the last moment
    }
  }

  private static <T extends AutoCloseable> void run(
      Callable<T> starter, CompletableFuture<T> starting) {
    try {
      T started = starter.call();
      if (!starting.complete(started)) {
        started.close();
      }
    } catch (Throwable e) { // Whoever waits throws it.
      starting.completeExceptionally(e);
    }
  }
}
