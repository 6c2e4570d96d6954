package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** An endpoint that READs from itself. */
final class LoopbackEndpoint implements QueuePairConnector, AutoCloseable {
  private static final long TIMEOUT_SECONDS = 30;
  private static final int BYTES = 64;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(BYTES).fill((byte) 7);
  private final MemoryRegion region;
  final RdmaEndpoint endpoint;

  LoopbackEndpoint(Device device) throws IOException {
    this(device, TransferOptions.DEFAULT.with(o -> o.bufferPoolBytes = 1 << 20));
  }

  LoopbackEndpoint(Device device, TransferOptions options) throws IOException {
    endpoint = RdmaEndpoint.open(device, options, this);
    region = endpoint.protectionDomain().register(memory, EnumSet.of(AccessFlag.REMOTE_READ));
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    try {
      return CompletableFuture.completedFuture(endpoint.accept(peer.id(), local));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  QueuePairAddress accept() throws IOException {
    return endpoint.accept(
        "somebody", new QueuePairAddress(1, 0, 0, endpoint.device().gid(), 4096, 16, new byte[0]));
  }

  /** How a READ ended. */
  record Answer(CompletableFuture<Void> done, PooledBuffer buffer) {
    void assertSucceeds() throws Exception {
      done.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      assertThat(buffer.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, BYTES - 1))
          .isEqualTo((byte) 7);
      buffer.release();
    }

    void assertFails(ReadException.Cause cause, String reason) {
      assertThatThrownBy(() -> done.get(TIMEOUT_SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .hasMessageContaining(reason)
          .asInstanceOf(type(ReadException.class))
          .satisfies(e -> assertThat(e.failure()).isEqualTo(cause));
      buffer.release();
    }
  }

  Answer read() throws Exception {
    return read(new RemoteRegion(region.address(), BYTES, region.rkey()));
  }

  Answer read(RemoteRegion from) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    CompletableFuture<PooledBuffer> acquired = new CompletableFuture<>();
    endpoint.buffers().acquire(BYTES, deadline, acquired::complete);
    PooledBuffer buffer = acquired.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    CompletableFuture<Void> done = new CompletableFuture<>();
    PeerAddress self = new PeerAddress("self", "localhost", 1);
    endpoint.read(
        new ReadRequest(
            self,
            List.of(from),
            buffer,
            deadline,
            new ReadListener() {
              @Override
              public void onSuccess() {
                done.complete(null);
              }

              @Override
              public void onFailure(ReadException failure) {
                done.completeExceptionally(failure);
              }
            }));
    return new Answer(done, buffer);
  }

  /** Work requests that were posted so far. */
  long posted() {
    return endpoint.counters().get(TransferCounter.WORK_REQUESTS);
  }

  @Override
  public void close() {
    region.close();
    endpoint.close();
    arena.close();
  }
}
