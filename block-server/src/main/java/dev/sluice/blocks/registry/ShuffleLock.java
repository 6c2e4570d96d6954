// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.rdma.TaskFailures;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lock of a shuffle's map outputs, which are added and removed with the lock held. Each {@link
 * ShuffleOutputs} has one. The {@link Registrar} holds it while it registers an opened map output,
 * so that a deregistration leaves no half-done registration behind.
 *
 * <p>Pinning pages that are not in the page cache reads the disk; if the disk does not answer, the
 * registrar may hold the lock for ever. A thread that does not get the lock within 10 s therefore
 * leaves its deregistration to the holder. Not reentrant.
 */
final class ShuffleLock {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleLock.class);
  private static final long MAX_WAIT_MS = 10_000;

  private final int shuffleId;
  private final ReentrantLock lock = new ReentrantLock();

  /** Deregistrations that the holder of the lock runs before it leaves the lock free. */
  private final Queue<Runnable> ends = new ConcurrentLinkedQueue<>();

  ShuffleLock(int shuffleId) {
    this.shuffleId = shuffleId;
  }

  /** Locks. The other holders only deregister, so a registration waits for no disk here. */
  void lock() {
    lock.lock();
  }

  /** Runs the deregistrations that were left to this thread, and unlocks. */
  void unlock() {
    do {
      try {
        for (Runnable next = ends.poll(); next != null; next = ends.poll()) {
          run(next);
        }
      } finally {
        lock.unlock();
      }
    } while (!ends.isEmpty() && lock.tryLock()); // An entry may have come after the last poll.
  }

  private void run(Runnable deregistration) {
    try {
      deregistration.run();
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Deregistering map outputs of shuffle {} failed", shuffleId, e);
    }
  }

  /**
   * Runs a deregistration with the lock held, on this thread or, if it has to wait for longer than
   * 10 s or is interrupted, on the holder's.
   */
  void end(Runnable deregistration) {
    ends.add(deregistration);
    try {
      if (lock.tryLock() || lock.tryLock(MAX_WAIT_MS, TimeUnit.MILLISECONDS)) {
        unlock();
      } else {
        LOG.warn(
            "Shuffle {}: a registration did not end within {} ms, perhaps because a disk does not"
                + " answer; its memory regions are deregistered when it ends",
            shuffleId,
            MAX_WAIT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
