// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.soft.FaultPlan.Fault;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultPlanTest {

  private static List<Fault.Kind> decisions(String plan, int requests) {
    FaultPlan.Sequence sequence = FaultPlan.parse(plan).start();
    return IntStream.range(0, requests).mapToObj(i -> sequence.next(4096).kind()).toList();
  }

  @Test
  void hitsExactlyTheNamedRequest() {
    assertThat(decisions("kill@3", 5))
        .containsExactly(
            Fault.Kind.DELIVER,
            Fault.Kind.DELIVER,
            Fault.Kind.KILL,
            Fault.Kind.DELIVER,
            Fault.Kind.DELIVER);
  }

  @Test
  void certainRuleHitsEveryRequest() {
    assertThat(decisions("corrupt=1", 4)).containsOnly(Fault.Kind.CORRUPT);
  }

  @Test
  void probabilityIsKeptOnAverage() {
    assertThat(decisions("seed=7;delay=0.1:5", 10_000))
        .filteredOn(kind -> kind == Fault.Kind.DELAY)
        .hasSizeBetween(800, 1200);
  }

  @Test
  void sameSeedMakesTheSameDecisions() {
    String plan = "seed=7;corrupt=0.3;kill=0.1";
    assertThat(decisions(plan, 200)).isEqualTo(decisions(plan, 200));
    assertThat(decisions(plan, 200)).isNotEqualTo(decisions("seed=8;corrupt=0.3;kill=0.1", 200));
  }

  @Test
  void firstRuleThatAppliesDecides() {
    assertThat(decisions("kill@1;corrupt=1", 2))
        .containsExactly(Fault.Kind.KILL, Fault.Kind.CORRUPT);
  }

  @Test
  void shortRequestsAreSparedAndNotCounted() {
    FaultPlan.Sequence sequence = FaultPlan.parse("minLength=4096;kill@1").start();
    assertThat(sequence.next(4095).kind()).isEqualTo(Fault.Kind.DELIVER);
    assertThat(sequence.next(4096).kind()).isEqualTo(Fault.Kind.KILL);
  }

  @Test
  void carriesItsArguments() {
    assertThat(FaultPlan.parse("delay@1:20").start().next(1).delayMs()).isEqualTo(20);
    assertThat(FaultPlan.parse("status@1:REM_OP_ERR").start().next(1).status())
        .isEqualTo(WorkCompletionStatus.REM_OP_ERR);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "seed=7;corrupt=0.01;kill@100;delay=0.05:20;status=0.01:REM_OP_ERR",
        "minLength=4096;status@2:REM_ACCESS_ERR",
        "seed=-3;kill=1.0"
      })
  void parsedPlansArePrintedUnchanged(String plan) {
    assertThat(FaultPlan.parse(plan)).hasToString(plan);
  }

  @Test
  void ignoresSpaceAndEmptyParts() {
    assertThat(FaultPlan.parse(" kill@1 ; ; seed=4 ")).hasToString("seed=4;kill@1");
  }

  @ParameterizedTest
  @CsvSource({
    "seed=x, seed=x",
    "kill@1;corrupt=2, corrupt=2",
    "corrupt=0, corrupt=0",
    "kill@0, kill@0",
    "kill, kill",
    "kill@1:5, kill@1:5",
    "delay=0.1, delay=0.1",
    "delay@1:-1, delay@1:-1",
    "status@1:BAD, status@1:BAD",
    "status@1:SUCCESS, status@1:SUCCESS",
    "lose=0.1, lose=0.1",
    "minLength=-1, minLength=-1"
  })
  void namesTheBadPart(String plan, String badPart) {
    assertThatThrownBy(() -> FaultPlan.parse(plan))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bad part '" + badPart + "'");
  }
}
