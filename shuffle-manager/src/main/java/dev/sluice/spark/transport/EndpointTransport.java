// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import dev.sluice.rdma.transfer.TransferCounter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * {@link ReadTransport} over the process's endpoint and the control channel. The executor's runtime
 * makes it, and owns and closes both. Any thread. A target of a READ must be a buffer that this
 * gave out.
 */
public record EndpointTransport(RdmaEndpoint endpoint, BlockServerClient servers)
    implements ReadTransport {

  @Override
  public int maxBufferBytes() {
    return endpoint.buffers().maxBufferBytes();
  }

  @Override
  public long poolBytes() {
    return endpoint.buffers().maxBytes();
  }

  @Override
  public void acquire(int bytes, long deadlineNanos, Consumer<ReadBuffer> taker) {
    endpoint.buffers().acquire(bytes, deadlineNanos, taker);
  }

  @Override
  public boolean isShort() {
    return endpoint.buffers().isAwaited();
  }

  @Override
  public void onShortage(Runnable listener) {
    endpoint.buffers().onShortage(listener);
  }

  @Override
  public void read(
      PeerAddress peer,
      List<RemoteRegion> ranges,
      ReadBuffer target,
      int offset,
      long deadlineNanos,
      ReadListener listener) {
    PooledBuffer pooled = (PooledBuffer) target;
    endpoint.read(new ReadRequest(peer, ranges, pooled, offset, deadlineNanos, listener));
  }

  @Override
  public CompletableFuture<Object> stage(PeerAddress peer, Stage request) {
    return servers.stage(peer, request);
  }

  @Override
  public void done(PeerAddress peer, long leaseId) {
    servers.done(peer, leaseId);
  }

  @Override
  public void touch(PeerAddress peer, int shuffleId) {
    servers.touch(peer, shuffleId);
  }

  @Override
  public void slowPeer() {
    endpoint.counters().increment(TransferCounter.SLOW_PEERS);
  }
}
