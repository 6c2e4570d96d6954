// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.stage.StageLoad.Answer;
import dev.sluice.benchmarks.stage.StagePeers.OwnTask;
import dev.sluice.benchmarks.stage.StagePeers.Run;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StagePeersTest {
  private static final PeerAddress FAST = new PeerAddress("fast", "localhost", 1);
  private static final PeerAddress SLOW = new PeerAddress("slow", "localhost", 2);

  private static final OwnTask OWN_TASK = new OwnTask(1, 0.5);

  @Test
  void aPercentileIsTheLeastTimeThatSoManyRequestsHadTheirAnswerIn() {
    List<Answer> answers =
        LongStream.rangeClosed(1, 200)
            .mapToObj(i -> new Answer(FAST, (201 - i) * 1_000_000, null))
            .toList();
    Run run = new Run(answers, 1, OWN_TASK);
    assertThat(run.millis(0.5)).isEqualTo(100);
    assertThat(run.millis(0.99)).isEqualTo(198);
    assertThat(run.millis(1)).isEqualTo(200);
  }

  @Test
  void aRateCountsBytesFromSomeServers() {
    List<Answer> answers =
        Stream.of(new Answer(FAST, 1, null), new Answer(SLOW, 1, null), new Answer(FAST, 1, "x"))
            .toList();
    Run run = new Run(answers, 2, OWN_TASK);
    assertThat(run.rate(List.of(FAST))).isEqualTo(0.524288);
    assertThat(run.servingCpu()).isEqualTo(0.5e9 / (2 << 20));
    assertThat(run.rate(List.of(FAST, SLOW))).isEqualTo(1.048576);
  }
}
