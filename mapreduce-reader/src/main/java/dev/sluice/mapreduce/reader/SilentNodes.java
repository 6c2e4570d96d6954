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

  private final long answerMs;
  private final AtomicInteger inARow = new AtomicInteger();

  /**
   * @param answerMs time limit of an answer
   */
  SilentNodes(long answerMs) {
    this.answerMs = answerMs;
  }

  boolean areMany() {
    return inARow.get() >= FEW;
  }

  /**
   * Notes the end of a search. A node that refuses at once is not silent.
   *
   * @param nanos time that the reader waited
   */
  void answered(boolean isFound, long nanos) {
    if (isFound) {
      inARow.set(0);
    } else if (nanos >= TimeUnit.MILLISECONDS.toNanos(answerMs) / 2) {
      inARow.incrementAndGet();
    }
  }

  @Override
  public String toString() {
    return "%d node daemons in a row did not answer within %d ms".formatted(inARow.get(), answerMs);
  }
}
