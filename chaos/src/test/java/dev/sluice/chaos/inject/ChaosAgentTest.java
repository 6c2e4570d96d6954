// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.chaos.inject.ChaosAgent.Order;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.testkit.JsonFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Orders that an executor's agent takes and answers. */
class ChaosAgentTest {
  @TempDir Path directory;
  private final List<Long> answered = new ArrayList<>();
  private int disturbed;
  private boolean fails;

  private ChaosAgent agent() {
    return new ChaosAgent(directory, "1", this::answer, this::disturb);
  }

  private Status answer(long sequence) {
    answered.add(sequence);
    return new Status(sequence, Map.of(), 0, 0, 0, 0, 0, 0, List.of(), 0, Map.of());
  }

  private void disturb() throws IOException {
    disturbed++;
    if (fails) {
      throw new IOException("of the test");
    }
  }

  private void order(Order order) throws IOException {
    JsonFile.write(directory.resolve("order.json"), order);
  }

  private static Order order(long sequence, double rate) {
    return new Order(sequence, 1, Map.of(Injection.READER_ERROR, rate), 0);
  }

  @Test
  void anOrderIsCarriedOutAndAnsweredOnce() throws IOException {
    ChaosAgent agent = agent();
    order(order(1, 0.5));
    agent.look();
    agent.look();
    assertThat(disturbed).isEqualTo(1);
    assertThat(answered).containsExactly(1L);
  }

  @Test
  void anOrderThatCouldNotBeCarriedOutIsTriedAgainBeforeItIsAnswered() throws IOException {
    ChaosAgent agent = agent();
    order(order(1, 0.5));
    fails = true;
    assertThatThrownBy(agent::look).isInstanceOf(IOException.class);
    assertThat(answered).isEmpty();
    fails = false;
    agent.look();
    assertThat(disturbed).isEqualTo(2);
    assertThat(answered).containsExactly(1L);
  }

  @Test
  void theNextOrderReplacesIt() throws IOException {
    ChaosAgent agent = agent();
    order(order(1, 0.5));
    agent.look();
    order(order(2, 0.7));
    agent.look();
    assertThat(disturbed).isEqualTo(2);
    assertThat(answered).containsExactly(1L, 2L);
  }
}
