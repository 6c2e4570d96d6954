// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.counters.LimitExceededException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Job counters of one reduce task, in the group {@link #GROUP}: bytes and map outputs by READ, by
 * HTTP, and by the {@link HttpReason} for which they went by HTTP. Each map output counts once,
 * when the scheduler commits it. {@link RdmaShuffle} makes it. Fetchers count on their threads;
 * {@link #count} reports at the end of the copy phase. Bytes are those in the map outputs' files,
 * without those of encryption.
 */
final class ShuffleCounters {
  /** Name of the counter group, which users see. */
  static final String GROUP = "Sluice shuffle";

  private static final Logger LOG = LoggerFactory.getLogger(ShuffleCounters.class);

  private final ShuffleConsumerPlugin.Context<?, ?> context;
  private final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong readOutputs = new AtomicLong();

  /** Map outputs by HTTP and their bytes, by the ordinals of the reasons. */
  private final AtomicLongArray httpOutputs = new AtomicLongArray(HttpReason.values().length);

  private final AtomicLongArray httpBytes = new AtomicLongArray(HttpReason.values().length);

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

  /** Counts a map output that came by HTTP. Any thread. */
  void byHttp(HttpReason reason, long bytes) {
    httpOutputs.incrementAndGet(reason.ordinal());
    httpBytes.addAndGet(reason.ordinal(), bytes);
  }

  /** Reports the totals, once. A task with local map files has none: it fetches nothing. */
  void count() {
    if (context.getLocalMapFiles() != null) {
      return;
    }
    if (ofAll != null) {
      httpOutputs.set(ofAll.ordinal(), context.getShuffledMapsCounter().getValue());
      httpBytes.set(ofAll.ordinal(), context.getReduceShuffleBytes().getValue());
    }
    try {
      report(context.getReporter());
    } catch (LimitExceededException e) { // A job has a limited number of counters.
      LOG.warn("Counters of the shuffle are left out (mapreduce.job.counters.max)", e);
    }
  }

  private void report(Reporter reporter) {
    reporter.incrCounter(GROUP, "READ_BYTES", readBytes.get());
    reporter.incrCounter(GROUP, "READ_MAP_OUTPUTS", readOutputs.get());
    reporter.incrCounter(GROUP, "HTTP_BYTES", sum(httpBytes));
    reporter.incrCounter(GROUP, "HTTP_MAP_OUTPUTS", sum(httpOutputs));
    for (HttpReason reason : HttpReason.values()) {
      long number = httpOutputs.get(reason.ordinal());
      if (number > 0) {
        reporter.incrCounter(GROUP, "HTTP_" + reason, number);
        reporter.incrCounter(GROUP, "HTTP_" + reason + "_BYTES", httpBytes.get(reason.ordinal()));
      }
    }
  }

  private static long sum(AtomicLongArray ofReasons) {
    long sum = 0;
    for (int i = 0; i < ofReasons.length(); i++) {
      sum += ofReasons.get(i);
    }
    return sum;
  }
}
