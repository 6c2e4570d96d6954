// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** A system that starts a number of threads and no more. */
public final class FewThreads implements ThreadFactory {
  private final AtomicInteger left;

  public FewThreads(int count) {
    left = new AtomicInteger(count);
  }

  /**
   * Returns a factory for a pool, which makes a number of threads and no more. The JDK's pools
   * start threads by another way than {@link Thread#start}.
   */
  public static ThreadFactory ofPool(int count) {
    FewThreads threads = new FewThreads(count);
    return work -> {
      threads.take();
      return Thread.ofPlatform().daemon().unstarted(work);
    };
  }

  private void take() {
    if (left.getAndDecrement() <= 0) {
      throw new OutOfMemoryError("thrown by a test: unable to create native thread");
    }
  }

  @Override
  public Thread newThread(Runnable work) {
    Thread thread =
        new Thread(work, "few-threads") {
          @Override
          public void start() {
            take();
            super.start();
          }
        };
    thread.setDaemon(true);
    return thread;
  }
}
