// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AwayNodesTest {
  private static final PeerAddress NODE = new PeerAddress("node", "node-host", 5000);
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(120);

  private boolean refuses = true;
  private long nowNanos;
  private final AwayNodes nodes = new AwayNodes(LIMIT_NANOS, _ -> refuses, () -> nowNanos);

  private boolean isAwayAfter(int seconds, boolean refusesThen) {
    nowNanos += TimeUnit.SECONDS.toNanos(seconds);
    refuses = refusesThen;
    return nodes.isAway(NODE);
  }

  @Test
  void connectionWithoutAnAnswerEndsNoAbsence() {
    assertThat(isAwayAfter(0, true)).isTrue();
    assertThat(isAwayAfter(40, false)).isFalse();
    assertThat(isAwayAfter(40, true)).isTrue();
    assertThat(nodes.isWaitedFor(NODE)).isTrue();
    assertThat(isAwayAfter(39, false)).isFalse();
    assertThat(isAwayAfter(1, true)).isTrue();
    assertThat(nodes.isWaitedFor(NODE)).isFalse();
  }

  @Test
  void answerEndsAnAbsence() {
    assertThat(isAwayAfter(0, true)).isTrue();
    nodes.answered(NODE);
    assertThat(isAwayAfter(60, true)).isTrue();
    nowNanos += LIMIT_NANOS - 1;
    assertThat(nodes.isWaitedFor(NODE)).isTrue();
    nowNanos++;
    assertThat(nodes.isWaitedFor(NODE)).isFalse();
  }

  @Test
  void absencesWithoutQueriesAreForgotten() {
    assertThat(isAwayAfter(0, true)).isTrue();
    assertThat(isAwayAfter(61, true)).isTrue();
    nowNanos += LIMIT_NANOS - 1;
    assertThat(nodes.isWaitedFor(NODE)).isTrue();
  }

  @Test
  void closedPortRefusesConnections() throws IOException {
    PeerAddress node;
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      node = new PeerAddress("node", "127.0.0.1", server.getLocalPort());
      assertThat(AwayNodes.refuses(node)).isFalse();
    }
    assertThat(AwayNodes.refuses(node)).isTrue();
  }

  /** Connecting to a broadcast address always fails: the network or the permission is missing. */
  @Test
  void machineThatCannotBeReachedRefusesNothing() {
    assertThat(AwayNodes.refuses(new PeerAddress("node", "255.255.255.255", 5000))).isFalse();
  }
}
