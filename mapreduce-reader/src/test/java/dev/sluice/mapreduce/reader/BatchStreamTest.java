// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.mapreduce.reader.BatchPlan.Piece;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class BatchStreamTest {
  private static final PeerAddress PEER = new PeerAddress("node", "host", 1);
  private static final int BYTES = 4_096;

  @Test
  void aStreamThatCannotBeginKeepsNoBuffer() throws Exception {
    try (var device = new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress());
        ProtectionDomain domain = device.allocateProtectionDomain();
        BufferPool pool = BufferPool.readable(domain, 4 << 20)) {
      assertThatThrownBy(() -> new BatchStream(piece -> read(pool, piece), plan(), 1_000))
          .hasMessage("scripted");
      assertThat(pool.bytesInUse()).isZero();
    }
  }

  /** The second piece fails. */
  private static CompletableFuture<PooledBuffer> read(BufferPool pool, Piece piece) {
    if (pool.bytesInUse() > 0) {
      throw new IllegalStateException("scripted");
    }
    return pool.acquire(piece.bytes(), System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
  }

  private static BatchPlan plan() {
    return new BatchPlan(List.of(partition(1), partition(2)), BYTES);
  }

  private static NodePartition partition(long mapId) {
    MapOutputHeader header =
        new MapOutputHeader(mapId, new RemoteRegion(4_096, 1_000_000, 7), ChecksumAlgorithm.NONE);
    return new NodePartition(PEER, header, 0, BYTES, BYTES);
  }
}
