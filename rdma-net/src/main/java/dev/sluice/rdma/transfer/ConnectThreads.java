// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that create, connect and destroy queue pairs. Each step is a device command that may take
 * a second: on RoCE ibv_modify_qp(3) to RTR waits until the peer's address is resolved. The
 * completion thread and the control channel's threads therefore do none of this.
 *
 * <p>Threads exist only while there is work. Any thread executes; the endpoint stops them. After
 * that, or if the system gives no thread, a task runs on its caller's thread, so that queue pairs
 * are always closed.
 */
final class ConnectThreads implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectThreads.class);

  /** This many unreachable peers do not delay connecting to others. */
  private static final int MAX_THREADS = 32;

  private final ThreadPoolExecutor threads;

  ConnectThreads() {
    this(DaemonThreads.numbered("sluice-connect-"));
  }

  ConnectThreads(ThreadFactory factory) {
    threads = DaemonThreads.atMost(MAX_THREADS, factory);
  }

  @Override
  public void execute(Runnable task) {
    try {
      threads.execute(task);
    } catch (RejectedExecutionException _) { // The threads are stopped.
      task.run();
    } catch (OutOfMemoryError e) {
      LOG.warn(
          "Starting a thread to connect or close a queue pair failed; the calling thread does it",
          e);
      task.run();
    }
  }

  /**
   * Runs the queued tasks, then ends the threads.
   *
   * @return true if all tasks ended in time
   */
  boolean stop(long timeoutMs) {
    return DaemonThreads.stop(threads, timeoutMs);
  }
}
