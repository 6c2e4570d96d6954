// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.leak.LeakTracker;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Completion channel of a {@link SoftDevice}, which creates it. It holds one pending event under a
 * lock, which guards all fields that change. Any thread; closed by its user or its device.
 */
final class SoftCompletionChannel implements CompletionChannel {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final SoftDevice device;
  private final LeakTracker.Handle leak;
  private boolean event;
  private boolean wakeUp;
  private boolean closed;

  SoftCompletionChannel(SoftDevice device, LeakTracker leaks) {
    this.device = device;
    leak = leaks.opened("completion channel", "of " + device);
  }

  @Override
  public boolean await(long timeoutMs) {
    long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    lock.lock();
    try {
      while (!event && !wakeUp && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      boolean result = event && !closed;
      event = false;
      wakeUp = wakeUp && result;
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void wakeUp() {
    lock.lock();
    try {
      wakeUp = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Raises an event. Completion queues call it without a lock. */
  void signal() {
    lock.lock();
    try {
      event = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    device.forget(this);
    leak.closed();
  }
}
