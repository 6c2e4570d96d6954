// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlowPeersOfAllTest {
  private static final Reads ALL = new Reads(100_000, 3_000, 220_000);

  private final LogCapture log = new LogCapture(SlowPeersOfAll.class, Level.WARN);
  private final SlowPeersOfAll slowPeers = new SlowPeersOfAll();

  @AfterEach
  void close() {
    log.close();
  }

  private static SlowPeer peer(String id, long reads, long p50Micros) {
    return new SlowPeer("executor " + id, 40, 1_000_000, new Reads(reads, p50Micros, 300_000));
  }

  /** Forty executors with two READs each: none of them names the peer by itself. */
  @Test
  void peersThatAreSlowForAllTogetherAreNamed() {
    slowPeers.look(
        List.of(peer("7", 80, 212_000), peer("8", 60, 90_000), peer("9", 70, 4_000)),
        2_500,
        ALL,
        0);
    assertThat(log.messages())
        .singleElement()
        .asString()
        .contains("SLOW_PEER executor 7 (median 212.0 ms of 80 READs by 40 executors)")
        .contains(", executor 8 (median 90.0 ms of 60 READs")
        .contains("; the median of other peers is 3.0 ms")
        .contains("spark.shuffle.rdma.read.timeout")
        .doesNotContain("executor 9");
  }

  @Test
  void aFewReadsAreNoReason() {
    slowPeers.look(List.of(peer("7", 9, 212_000)), 2_500, ALL, 0);
    assertThat(log.messages()).isEmpty();
  }

  /** The network or the disks of all nodes are the cause then. */
  @Test
  void nothingIsSaidIfAllReadsTakeLong() {
    slowPeers.look(List.of(peer("7", 80, 212_000)), 2_500, new Reads(1_000, 60_000, 220_000), 0);
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void oneLineAMinuteIsLogged() {
    for (int second = 0; second < 180; second++) {
      slowPeers.look(
          List.of(peer("7", 80, 212_000)),
          2_500,
          new Reads(ALL.count() + second, 3_000, 220_000),
          1_000L * second);
    }
    assertThat(log.messages()).hasSize(3);
  }

  /** Blocks of a later stage may be larger. */
  @Test
  void nothingIsSaidIfAllPeersTakeLongNow() {
    slowPeers.look(List.of(peer("7", 80, 70_000), peer("8", 80, 60_000)), 60_000, ALL, 0);
    assertThat(log.messages()).isEmpty();
  }

  /** The figures of an application that rests change only as its executors leave. */
  @Test
  void nothingIsRepeatedWithoutFurtherReads() {
    slowPeers.look(List.of(peer("7", 80, 212_000)), 2_500, ALL, 0);
    slowPeers.look(List.of(peer("7", 70, 212_000)), 2_500, ALL, 3_600_000);
    assertThat(log.messages()).hasSize(1);
  }
}
