// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import dev.sluice.spark.scenarios.PathAssert;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Queue pairs of executors that rdma_cm connects. The kernel knows the connections, and later
 * forgets them.
 */
@NeedsRdmaDevice
final class ConnectByCmIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;

  private RdmaResources before;

  @BeforeEach
  void lookAtTheKernel() throws Exception {
    before = RdmaResources.now();
  }

  /** The ids of rdma_cm are among the counted objects. */
  @AfterEach
  void nothingIsLeftInTheKernel() throws Exception {
    RdmaResources.awaitNothingButWhatWas(before);
  }

  @Test
  void everyRemoteBlockIsReadOverItsConnections() throws Exception {
    assertReadOverConnections();
  }

  @Test
  @Cable.Needed
  void executorsOnTwoDevicesConnectOverTheCable() throws Exception {
    assertReadOverConnections("spark.shuffle.rdma.devices", "rxe0,rxe1");
  }

  private static void assertReadOverConnections(String... settings) throws Exception {
    Stream<String> connect = Stream.of("spark.shuffle.rdma.connect", "cm");
    try (LocalCluster cluster =
        VerbsCluster.start(Stream.concat(connect, Stream.of(settings)).toArray(String[]::new))) {
      assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);
      // One side may have had nothing to fetch; a side that fetched shows both ends of its
      // connection.
      assertThat(ids("CONNECT").size()).isIn(2, 4);
      assertThat(ids("LISTEN")).hasSize(2);
    }
  }

  /** The ids of rdma_cm that the kernel knows in a state. */
  private static List<String> ids(String state) throws IOException {
    Process process = new ProcessBuilder("rdma", "resource", "show", "cm_id").start();
    String ids = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return ids.lines().filter(id -> id.contains("state " + state + " ")).toList();
  }
}
