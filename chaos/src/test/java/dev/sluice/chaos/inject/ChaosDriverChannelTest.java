// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.ExecutorEndpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Addresses that the driver gets for map outputs while faults are injected. */
class ChaosDriverChannelTest {
  private static final String HOST = "127.0.0.1";

  @TempDir Path directory;
  private final List<DirectoryMessage> asked = new ArrayList<>();

  private void publish(ExecutorEndpoint endpoint) throws IOException {
    ChaosAgent agent = new ChaosAgent(directory, "1", _ -> null, () -> {});
    new ChaosDriverChannel(this::ask, agent, new ControlProxy(agent))
        .ask(new Publish(endpoint, List.of()));
  }

  private DirectoryMessage ask(DirectoryMessage message) {
    asked.add(message);
    return new Ack();
  }

  @Test
  void anExecutorsOwnBlockServerIsBehindTheProxy() throws IOException {
    PeerAddress own = new PeerAddress("1", HOST, 40_000);
    publish(new ExecutorEndpoint(own, "soft"));
    ExecutorEndpoint shown = ((Publish) asked.getFirst()).endpoint();
    assertThat(shown.executorId()).isEqualTo("1");
    assertThat(shown.outlivesExecutor()).isFalse();
    assertThat(shown.peer().port()).isNotEqualTo(own.port());
  }

  /** The proxy, which ends with the executor's process, would make the node end with it. */
  @Test
  void aNodesBlockServerIsNot() throws IOException {
    ExecutorEndpoint atNode =
        new ExecutorEndpoint("1", new PeerAddress("node", HOST, 40_000), "soft");
    publish(atNode);
    assertThat(asked).containsExactly(new Publish(atNode, List.of()));
  }
}
