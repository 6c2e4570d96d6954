// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Logs failures of tasks that share a thread. Any thread; nothing to close. */
public final class TaskFailures {
  private TaskFailures() {}

  /**
   * Logs the failure of one task, so that the thread can continue with the next one. Never throws:
   * when memory is short, the line may be lost.
   */
  public static void log(Logger log, String message, Throwable failure) {
    log(log, message, null, failure);
  }

  /**
   * Logs the failure of one task about a subject, like {@link #log(Logger, String, Throwable)}.
   *
   * @param message a constant with one {@code {}}: callers build no text, which takes memory
   * @param subject its {@code toString} replaces {@code {}}, and may throw
   */
  public static void log(Logger log, String message, @Nullable Object subject, Throwable failure) {
    try {
      if (subject == null) {
        log.error(message, failure);
      } else {
        log.error(message, subject, failure);
      }
    } catch (RuntimeException | Error _) {
      // The next task may work although this line could not be written.
    }
  }
}
