package dev.sluice.blocks;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Asks peers' block servers over Spark's transport. Never blocks the caller. */
public final class BlockServerClient implements QueuePairConnector, AutoCloseable {
  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    throw new UnsupportedOperationException();
  }

  /** See {@link MapOutputRegistry#resolve}. */
  public CompletableFuture<List<MapOutputLocation>> resolve(
      PeerAddress peer, int shuffleId, long[] mapIds) {
    throw new UnsupportedOperationException();
  }

  /** Tells the peer that this process READs from the shuffle. No answer. */
  public void touch(PeerAddress peer, int shuffleId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
