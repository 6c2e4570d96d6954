// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.jspecify.annotations.Nullable;

/**
 * Job counters of one reduce task, in the group {@link #GROUP}: bytes and map outputs by READ and
 * by HTTP, and map outputs by the {@link HttpReason} for which they went by HTTP. {@link
 * RdmaShuffle} makes it. Fetchers count on their threads; {@link #count} reports at the end of the
 * copy phase. Bytes are those in the map outputs' files, without those of encryption.
 */
final class ShuffleCounters {
  /** Name of the counter group, which users see. */
  static final String GROUP = "Sluice shuffle";

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong readOutputs = new AtomicLong();

  /** Map outputs by HTTP, by the ordinals of the reasons. */
  private final AtomicLongArray byReason = new AtomicLongArray(HttpReason.values().length);

  /** Reason for which no map output is READ; null if they are READ. */
  private @Nullable HttpReason ofAll;

  ShuffleCounters(ShuffleConsumerPlugin.Context<?, ?> context) {
    this.context = context;
  }

  /** Notes that this task READs nothing. */
  void allByHttp(HttpReason reason) {
    ofAll = reason;
  }

  /** Counts a map output that was READ. Any thread. */
  void read(long bytes) {
    readBytes.addAndGet(bytes);
    readOutputs.incrementAndGet();
  }

  /** Counts a map output that is left to HTTP. Any thread. */
  void byHttp(HttpReason reason) {
    byReason.incrementAndGet(reason.ordinal());
  }

  /** Reports the totals, once. A task with local map files has none: it fetches nothing. */
  void count() {
    if (context.getLocalMapFiles() != null) {
      return;
    }
    Reporter reporter = context.getReporter();
    long outputs = context.getShuffledMapsCounter().getValue();
    long bytes = context.getReduceShuffleBytes().getValue();
    if (ofAll != null) {
      byReason.set(ofAll.ordinal(), outputs);
    }
    reporter.incrCounter(GROUP, "READ_BYTES", readBytes.get());
    reporter.incrCounter(GROUP, "READ_MAP_OUTPUTS", readOutputs.get());
    // A map output whose attempts were both READ counts twice here and once for Hadoop.
    reporter.incrCounter(GROUP, "HTTP_BYTES", Math.max(0, bytes - readBytes.get()));
    reporter.incrCounter(GROUP, "HTTP_MAP_OUTPUTS", Math.max(0, outputs - readOutputs.get()));
    for (HttpReason reason : HttpReason.values()) {
      long number = byReason.get(reason.ordinal());
      if (number > 0) {
        reporter.incrCounter(GROUP, "HTTP_" + reason, number);
      }
    }
  }
}
