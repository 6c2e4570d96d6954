// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A process's device, as these tests need it: accepts queue pairs and READs. Closes the device. */
public final class Node implements QueuePairAcceptor, AutoCloseable {
  private static final int DEPTH = 16;
  private static final long BUFFER_BYTES = 1 << 20;
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private final Arena arena = Arena.ofShared();
  private final Device device;
  private final ProtectionDomain domain;
  private final CompletionQueue completions;
  private final MemorySegment buffer;
  private final MemoryRegion bufferRegion;

  Node(Device device) throws IOException {
    this.device = device;
    domain = device.allocateProtectionDomain();
    completions = device.createCompletionQueue(256, null);
    buffer = arena.allocate(BUFFER_BYTES, 4096);
    bufferRegion = domain.register(buffer, Set.of(AccessFlag.LOCAL_WRITE));
  }

  public static Node soft() throws IOException {
    return new Node(new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress()));
  }

  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  public CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote) {
    try {
      QueuePair queuePair = newQueuePair(Set.of(AccessFlag.REMOTE_READ));
      connect(queuePair, remote);
      return CompletableFuture.completedFuture(queuePair.address());
    } catch (VerbsException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void disconnected(String peerId, int remoteQpNumber) {}

  @Override
  public void peerLeft(String peerId) {}

  @Override
  public void peerReturned(String peerId) {}

  /** Returns a queue pair in INIT. */
  QueuePair newQueuePair(Set<AccessFlag> access) throws VerbsException {
    QueuePair queuePair = domain.createQueuePair(completions, DEPTH);
    queuePair.toInit(access);
    return queuePair;
  }

  static void connect(QueuePair queuePair, QueuePairAddress remote) throws VerbsException {
    queuePair.toRtr(remote, ConnectionAttributes.DEFAULT);
    queuePair.toRts();
  }

  /** Posts a READ of the region's first bytes, without waiting for it. */
  void postRead(QueuePair queuePair, RemoteRegion remote) throws IOException {
    ScatterGatherEntry local =
        new ScatterGatherEntry(
            bufferRegion.address(), Math.toIntExact(remote.length()), bufferRegion.lkey());
    queuePair.postSend(
        List.of(new SendWorkRequest(1, local, remote.address(), remote.rkey(), true)));
  }

  WorkCompletionStatus awaitCompletion() throws IOException {
    WorkCompletions batch = new WorkCompletions(1);
    long deadlineNs = System.nanoTime() + TIMEOUT_NS;
    while (completions.poll(batch) == 0) {
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.yield();
    }
    return batch.status(0);
  }

  /** Clears the buffer, so that bytes of an earlier READ are not taken for new ones. */
  void clear() {
    buffer.fill((byte) 0);
  }

  byte[] received(long bytes) {
    return buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public void close() {
    device.close();
    arena.close();
  }
}
