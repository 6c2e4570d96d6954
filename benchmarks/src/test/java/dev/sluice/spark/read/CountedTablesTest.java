package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class CountedTablesTest {
  private static final PeerAddress PEER = new PeerAddress("1", "host", 4000);
  private static final int MAPS = 10;
  private static final int PAGE_BYTES = 65 * PartitionTable.ENTRY_BYTES;
  private static final List<MapOutputLocation> OUTPUTS =
      LongStream.range(0, MAPS).mapToObj(CountedTablesTest::location).toList();

  private final CountedTables tables = new CountedTables(0, 1 << 20);

  private static MapOutputLocation location(long mapId) {
    RemoteRegion table = new RemoteRegion(mapId << 24, 1001 * PartitionTable.ENTRY_BYTES, 1);
    return new MapOutputLocation(
        mapId, new RemoteRegion(0, 1 << 20, 2), table, ChecksumAlgorithm.NONE);
  }

  @Test
  void partitionsOfOnePageAreReadOnce() {
    tables.find(PEER, OUTPUTS, 0);
    tables.find(PEER, OUTPUTS, 63);

    assertThat(tables.requests()).isEqualTo(1);
    assertThat(tables.workRequests()).isEqualTo(MAPS);
    assertThat(tables.bytes()).isEqualTo(MAPS * PAGE_BYTES);
  }

  @Test
  void partitionsOfOtherPagesAreReadEach() {
    tables.find(PEER, OUTPUTS, 0);
    tables.find(PEER, OUTPUTS, 64);

    assertThat(tables.workRequests()).isEqualTo(2 * MAPS);
    assertThat(tables.accountedHeapBytes()).isPositive();
  }
}
