// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls with a time limit, for code that may hang, mostly in the kernel. The thread of a call that
 * hangs is left behind. The doctor's main thread, or a task's, waits for each call. After a timeout
 * the call goes on: nothing closes a resource that it returns later.
 */
public final class Limited {
  private Limited() {}

  /**
   * Makes the call on a daemon thread of its own.
   *
   * @param name name of the call, for its thread
   * @throws TimeoutException if the call has not returned in time, with the place where it is
   * @throws ExecutionException if the call throws
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
