// SPDX-License-Identifier: Apache-2.0
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
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
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

  /** A peer whose address does not resolve. */
  static final String UNREACHABLE = "unreachable";

  private static final Gid UNREACHABLE_GID = Gid.of(IpLiteral.parse("10.0.0.99"));

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
    return endpoint
        .accept(peer.id(), local)
        .thenApply(self -> peer.id().equals(UNREACHABLE) ? at(UNREACHABLE_GID, self) : self);
  }

  private static QueuePairAddress at(Gid gid, QueuePairAddress address) {
    return new QueuePairAddress(
        address.qpNumber(),
        address.psn(),
        address.lid(),
        gid,
        address.mtu(),
        address.maxDestRdAtomic(),
        address.providerData());
  }

  QueuePairAddress accept(String peerId) throws Exception {
    return acceptLater(peerId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  CompletableFuture<QueuePairAddress> acceptLater(String peerId) {
    Gid gid = peerId.equals(UNREACHABLE) ? UNREACHABLE_GID : endpoint.device().gid();
    return endpoint.accept(peerId, new QueuePairAddress(1, 0, 0, gid, 4096, 16, new byte[0]));
  }

  /** The result of a READ. */
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
    return read("self", region.rkey());
  }

  /**
   * @param peerId any name; all names lead to this process
   */
  Answer read(String peerId, int rkey) throws Exception {
    PooledBuffer buffer = buffer();
    CompletableFuture<Void> done = new CompletableFuture<>();
    endpoint.read(request(peerId, rkey, buffer, ReadListener.completing(done)));
    return new Answer(done, buffer);
  }

  PooledBuffer buffer() throws Exception {
    return endpoint.buffers().acquire(BYTES, deadline()).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  ReadRequest request(String peerId, int rkey, PooledBuffer target, ReadListener listener) {
    PeerAddress peer = new PeerAddress(peerId, "localhost", 1);
    RemoteRegion from = new RemoteRegion(region.address(), BYTES, rkey);
    return new ReadRequest(peer, List.of(from), target, 0, deadline(), listener);
  }

  private static long deadline() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
  }

  int rkey() {
    return region.rkey();
  }

  /** Work requests posted so far. */
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
