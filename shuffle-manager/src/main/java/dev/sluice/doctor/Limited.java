package dev.sluice.doctor;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls what may hang, mostly in the kernel: then its thread is left behind. */
public final class Limited {
  private Limited() {}

  /**
   * Calls it on a daemon thread of its own.
   *
   * @param name of it, for its thread
   * @throws TimeoutException with where it is, when it has not returned in time
   * @throws ExecutionException of what it throws
   */
  public static <T> T call(String name, Duration limit, Callable<T> call)
      throws ExecutionException, TimeoutException, InterruptedException {
    FutureTask<T> answer = new FutureTask<>(call);
    Thread thread = new Thread(answer, "doctor-" + name);
    thread.setDaemon(true);
    thread.start();
    try {
      return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new TimeoutException(
          String.format("no answer within %d s, at %s", limit.toSeconds(), place(thread)));
    }
  }

  private static String place(Thread thread) {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length == 0 ? "its end" : stack[0].toString();
  }
}
