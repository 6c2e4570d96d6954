// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.mapreduce.HttpReason;
import java.util.stream.Stream;
import org.apache.hadoop.mapreduce.Counters;

/** Sluice's counters of a job that has ended. A counter that the job lacks is 0. Immutable. */
record ShuffleCounts(Counters counters) {
  private static final String GROUP = "Sluice shuffle";

  long get(String name) {
    return counters.findCounter(GROUP, name).getValue();
  }

  /** Returns the number of map outputs whose READ failed, after they had been located. */
  long failedReads() {
    return Stream.of(HttpReason.CONNECT, HttpReason.TRANSPORT, HttpReason.DEADLINE)
        .mapToLong(reason -> get("HTTP_" + reason))
        .sum();
  }

  /**
   * Checks that all map outputs were READ. None by HTTP does not suffice: Hadoop's own shuffle has
   * no such counter.
   *
   * @param outputs map tasks, times reduce tasks
   */
  void checkThatAllWasRead(long outputs) {
    assertThat(get("READ_MAP_OUTPUTS")).as("%s", counters).isEqualTo(outputs);
    assertThat(get("HTTP_MAP_OUTPUTS")).as("%s", counters).isZero();
    assertThat(get("READ_BYTES")).as("%s", counters).isPositive();
  }
}
