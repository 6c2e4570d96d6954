// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/** Watches the threads of Sluice that a part starts. */
public final class NewThreads {
  private final Set<Thread> before = Thread.getAllStackTraces().keySet();

  /** Returns the threads with Sluice's names that were started since the creation. */
  public List<Thread> started() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread) && thread.getName().startsWith("sluice-"))
        .toList();
  }

  /**
   * Calls a part from a thread with another context class loader, such as that of an application.
   */
  public static <T> T underAnotherLoader(Callable<T> part) throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader own = current.getContextClassLoader();
    try (URLClassLoader other = new URLClassLoader(new URL[0], own)) {
      current.setContextClassLoader(other);
      return part.call();
    } finally {
      current.setContextClassLoader(own);
    }
  }
}
