// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts nodes in a row whose port does not answer, as behind a firewall that drops packets. A
 * reader waits for a few such nodes alone, not for each of a cluster. {@link JobReader} makes one
 * for all of its nodes; any thread.
 */
final class SilentNodes {
  /** Nodes for which the reader waits. */
  private static final int FEW = 3;

  /** A node that refuses, or whose port is closed, answers sooner. */
  private static final long SILENT_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

  private final AtomicInteger inARow = new AtomicInteger();

  boolean areMany() {
    return inARow.get() >= FEW;
  }

  /** Notes that a node's daemon answered. */
  void found() {
    inARow.set(0);
  }

  /**
   * Notes the first failed search at a node.
   *
   * @param nanos time until the failure
   */
  void failed(long nanos) {
    if (nanos >= SILENT_NANOS) {
      inARow.incrementAndGet();
    }
  }

  @Override
  public String toString() {
    return inARow + " node daemons in a row did not answer";
  }
}
