// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.SluiceTotals;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TailCommandTest {
  private static SluiceTotals totals(long readBytes, long lateBytes, long hedgeBytes) {
    return new SluiceTotals(
        "soft",
        readBytes + lateBytes,
        Map.of(
            "read.bytes",
            readBytes,
            "fallback.bytes.LATE",
            lateBytes,
            "fallback.blocks.LATE",
            lateBytes / 10,
            "hedge.bytes",
            hedgeBytes));
  }

  @Test
  void anyShareOfBytesMayBeLate() {
    assertThat(TailCommand.lateProblems(totals(100, 60, 2), true)).isEmpty();
    assertThat(TailCommand.lateProblems(totals(100, 0, 0), false)).isEmpty();
  }

  /** Otherwise a plan of faults that does not reach its executor would give the best figure. */
  @Test
  void aRunWithoutLateBytesIsAProblemUnlessNothingIsHedged() {
    assertThat(TailCommand.lateProblems(totals(100, 0, 0), true))
        .containsExactly("Spark's transfer fetched 0 late bytes");
    assertThat(TailCommand.lateProblems(totals(100, 60, 0), false))
        .containsExactly("Spark's transfer fetched 60 late bytes");
  }

  @Test
  void moreExtraBytesThanTheLimitAreAProblem() {
    assertThat(TailCommand.lateProblems(totals(100, 60, 3), true))
        .containsExactly("3 bytes were hedged, of 100 READ bytes");
  }
}
