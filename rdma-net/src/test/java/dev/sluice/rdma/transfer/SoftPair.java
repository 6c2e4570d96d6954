// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A reading endpoint and serving endpoints on the software provider in one JVM. The control channel
 * is a method call. {@link #close} checks that nothing was left open.
 */
final class SoftPair implements QueuePairConnector, AutoCloseable {
  static final TransferOptions OPTIONS =
      TransferOptions.DEFAULT.with(
          o -> {
            o.bufferPoolBytes = 64 << 20;
            o.maxQueuePairs = 16;
            o.sendQueueDepth = 64;
            o.maxReadBytes = 256 << 10;
            o.circuitFailures = 8;
            o.circuitCooldownMs = 200;
            o.spinMicros = 50;
          });
  private static final String READER = "reader";
  private static final long TIMEOUT_SECONDS = 30;

  final LeakTracker leaks = new LeakTracker();
  final RdmaEndpoint reader;
  private final Arena arena = Arena.ofShared();
  private final Map<String, RdmaEndpoint> servers = new ConcurrentHashMap<>();
  private final TransferOptions options;

  SoftPair(TransferOptions options) throws IOException {
    this.options = options;
    reader = endpoint(FaultPlan.NONE);
  }

  private RdmaEndpoint endpoint(FaultPlan faults) throws IOException {
    SoftOptions soft =
        SoftOptions.DEFAULT.with(
            o -> {
              o.faults = faults;
              o.leaks = leaks;
            });
    return RdmaEndpoint.open(
        new SoftProvider(soft).open(InetAddress.getLoopbackAddress()), options, this);
  }

  /** Starts a peer with this number of random bytes to READ. */
  Server serve(String id, int bytes, String faults) throws IOException {
    RdmaEndpoint endpoint = endpoint(FaultPlan.parse(faults));
    servers.put(id, endpoint);
    MemorySegment memory = arena.allocate(bytes, 4096);
    Random random = new Random(bytes);
    for (long i = 0; i + 8 <= bytes; i += 8) {
      memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
    }
    MemoryRegion region =
        endpoint.protectionDomain().register(memory, EnumSet.of(AccessFlag.REMOTE_READ));
    return new Server(new PeerAddress(id, "localhost", 1), endpoint, memory, region);
  }

  record Server(
      PeerAddress address, RdmaEndpoint endpoint, MemorySegment memory, MemoryRegion region) {
    RemoteRegion range(long offset, long length) {
      return new RemoteRegion(region.address() + offset, length, region.rkey());
    }
  }

  /** Target of a read, and its failure: null for success. */
  record Answer(PooledBuffer target, ReadException failure) {}

  /** Reads the ranges into a buffer of their size. */
  CompletableFuture<Answer> read(Server from, List<RemoteRegion> ranges, long timeoutMs) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    int bytes = (int) ranges.stream().mapToLong(RemoteRegion::length).sum();
    reader
        .buffers()
        .acquire(
            bytes,
            deadline,
            target -> {
              assertThat(target).isNotNull();
              target.segment().fill((byte) 0);
              reader.read(
                  new ReadRequest(
                      from.address(), ranges, target, 0, deadline, answering(answer, target)));
            });
    return answer;
  }

  private static ReadListener answering(CompletableFuture<Answer> answer, PooledBuffer target) {
    return new ReadListener() {
      @Override
      public void onSuccess() {
        once(new Answer(target, null));
      }

      @Override
      public void onFailure(ReadException failure) {
        once(new Answer(target, failure));
      }

      private void once(Answer given) {
        assertThat(answer.complete(given)).as("the first answer").isTrue();
      }
    };
  }

  static Answer await(CompletableFuture<Answer> answer)
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    RdmaEndpoint server = servers.get(peer.id());
    if (server == null) {
      return CompletableFuture.failedFuture(new IOException("no such peer"));
    }
    return server.accept(READER, local);
  }

  @Override
  public void released(PeerAddress peer, int localQpNumber) {
    RdmaEndpoint server = servers.get(peer.id());
    if (server != null) {
      server.disconnected(READER, localQpNumber);
    }
  }

  @Override
  public void close() {
    reader.close();
    servers.values().forEach(RdmaEndpoint::close);
    arena.close();
    assertThat(leaks.open()).isEmpty();
  }
}
