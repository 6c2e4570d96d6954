// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.mapreduce.reader.BatchPlan.Piece;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BatchPlanTest {
  private static final PeerAddress PEER = new PeerAddress("node", "host", 1);
  private static final int BUFFER = 100;

  @Test
  void smallPartitionsShareAPiece() {
    assertThat(pieces(registered(0, 40), registered(1, 60), registered(2, 1)))
        .containsExactly("0,1 from 0: 100", "2 from 0: 1");
  }

  @Test
  void aLargePartitionBecomesSeveralPieces() {
    assertThat(pieces(registered(0, 10), registered(1, 250), registered(2, 10)))
        .containsExactly(
            "0 from 0: 10", "1 from 0: 100", "1 from 100: 100", "1 from 200: 50", "2 from 0: 10");
  }

  @Test
  void registeredAndStagedOnesShareNoPiece() {
    assertThat(pieces(registered(0, 10), staged(1, 10), staged(2, 10), registered(3, 10)))
        .containsExactly("0 from 0: 10", "1,2 from 0: 20", "3 from 0: 10");
  }

  @Test
  void partitionsWithoutBytesAreLeftOut() {
    assertThat(pieces(registered(0, 0), registered(1, 5), registered(2, 0), registered(3, 5)))
        .containsExactly("1,3 from 0: 10");
    assertThat(pieces(registered(0, 0))).isEmpty();
    assertThat(pieces()).isEmpty();
  }

  private static List<String> pieces(NodePartition... partitions) {
    BatchPlan plan = new BatchPlan(List.of(partitions), BUFFER);
    List<String> pieces = new ArrayList<>();
    for (Piece next = plan.next(); next != null; next = plan.next()) {
      String ids =
          String.join(
              ",", next.partitions().stream().map(each -> Long.toString(each.mapId())).toList());
      pieces.add("%s from %d: %d".formatted(ids, next.position(), next.bytes()));
    }
    return pieces;
  }

  private static NodePartition registered(long mapId, long bytes) {
    return partition(mapId, bytes, new RemoteRegion(4096, 1_000_000, 7));
  }

  private static NodePartition staged(long mapId, long bytes) {
    return partition(mapId, bytes, MapOutputHeader.unregistered(1_000_000));
  }

  private static NodePartition partition(long mapId, long bytes, RemoteRegion data) {
    MapOutputHeader header = new MapOutputHeader(mapId, data, ChecksumAlgorithm.NONE);
    return new NodePartition(PEER, header, 0, bytes, bytes);
  }
}
