// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.qualify.Gain.Verdict;
import dev.sluice.doctor.qualify.GainModel.Range;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Answers about stages and applications. */
class GainTest {
  private static ShuffleReads reads(long blocks, long bytesEach, long runMs) {
    ShuffleReads reads = new ShuffleReads();
    reads.ran(runMs);
    reads.note("Remote Blocks Fetched", blocks);
    reads.note("Remote Bytes Read", blocks * bytesEach);
    return reads;
  }

  @ParameterizedTest
  @CsvSource({
    "0.05, 0.2, GAIN",
    "0.04, 0.2, UNKNOWN",
    "-0.04, 0.04, NO_GAIN",
    "-0.06, 0.04, UNKNOWN",
    "-0.2, 0.2, UNKNOWN",
    "-0.2, -0.05, LOSS"
  })
  void anAnswerHoldsForTheWholeRange(double low, double high, Verdict verdict) {
    assertThat(Verdict.of(new Range(10 * low, 10 * high), 10)).isEqualTo(verdict);
  }

  @ParameterizedTest
  @CsvSource({
    "160000, 1000, 5000, GAIN, many small blocks",
    "160000, 1000, 500000, NO_GAIN, few blocks for the task time",
    "256, 1000, 40, LOSS, too few blocks",
    "1024, 1048576, 900, UNKNOWN, large blocks",
    "1024, 1048576, 90000, NO_GAIN, few blocks"
  })
  void aStageHasAReason(long blocks, long bytes, long runMs, Verdict verdict, String reason) {
    Gain gain = Gain.ofStage(reads(blocks, bytes, runMs), "sort");
    assertThat(gain.verdict()).isEqualTo(verdict);
    assertThat(gain.reason()).startsWith(reason);
  }

  @Test
  void localBlocksAloneGainNothing() {
    ShuffleReads reads = new ShuffleReads();
    reads.ran(100_000);
    reads.note("Local Blocks Fetched", 1_000_000);
    reads.note("Local Bytes Read", 1_000_000_000);
    Gain gain = Gain.ofStage(reads, "sort");
    assertThat(gain.verdict()).isEqualTo(Verdict.NO_GAIN);
    assertThat(gain.reason()).isEqualTo("no block is remote");
  }

  @Test
  void anApplicationIsTheSumOfItsStages() {
    Gain many = Gain.ofStage(reads(100_000, 100, 5000), "");
    Gain few = Gain.ofStage(reads(10, 100, 5000), "");
    assertThat(Gain.ofApplication(List.of(many, few), 10_000 / 1e3).verdict())
        .isEqualTo(Verdict.GAIN);
    assertThat(Gain.ofApplication(List.of(many, few), 1000).verdict()).isEqualTo(Verdict.NO_GAIN);
    ShuffleReads lacking = reads(10, 100, 5000);
    lacking.lacksBlocks();
    Gain half = Gain.ofApplication(List.of(many, Gain.ofStage(lacking, "")), 10);
    assertThat(half.verdict()).isEqualTo(Verdict.UNKNOWN);
    assertThat(half.reason()).isEqualTo("1 of 2 stages cannot be estimated");
    assertThat(half.saving()).isEqualTo(many.saving());
  }
}
