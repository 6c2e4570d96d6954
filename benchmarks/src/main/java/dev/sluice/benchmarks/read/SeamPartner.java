package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
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
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** READs on one queue pair by the provider seam alone: one thread posts, polls and sleeps. */
final class SeamPartner implements Partner {
  /** READs that it and the socket may have under way. */
  static final int MAX_IN_FLIGHT = 256;

  private static final long TARGET_BYTES = 64 << 20;
  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long STALL_MS = 10_000;

  private final Arena arena = Arena.ofShared();
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final MemoryRegion target;
  private final QueuePair queuePair;
  private final RemoteRegion remote;
  private final WorkCompletions completions = new WorkCompletions(MAX_IN_FLIGHT);

  /**
   * @param reader whose device it READs by
   */
  SeamPartner(NetworkParts reader, Peer peer) throws IOException {
    remote = peer.memory();
    ProtectionDomain domain = reader.endpoint().protectionDomain();
    channel = domain.device().createCompletionChannel();
    queue = domain.device().createCompletionQueue(MAX_IN_FLIGHT + 1, channel);
    target = domain.register(arena.allocate(TARGET_BYTES, 4096), Set.of(AccessFlag.LOCAL_WRITE));
    queuePair = domain.createQueuePair(queue, MAX_IN_FLIGHT);
    queuePair.toInit(Set.of());
    QueuePairAddress accepted =
        reader.client().exchange(peer.address(), SoftProvider.NAME, queuePair.address()).join();
    queuePair.toRtr(accepted, ConnectionAttributes.DEFAULT);
    queuePair.toRts();
  }

  @Override
  public String name() {
    return "seam";
  }

  @Override
  public long measure(Workload workload, int count) throws IOException {
    long start = System.nanoTime();
    int posted = 0;
    int completed = 0;
    while (completed < count) {
      int allowed = Math.min(count, completed + workload.inFlight());
      if (posted < allowed) {
        queuePair.postSend(chain(workload, posted, allowed));
        posted = allowed;
      }
      completed += awaitCompletions();
    }
    return System.nanoTime() - start;
  }

  private List<SendWorkRequest> chain(Workload workload, int from, int to) {
    List<SendWorkRequest> chain = new ArrayList<>(to - from);
    for (int i = from; i < to; i++) {
      long slot = target.address() + (long) (i % workload.inFlight()) * workload.bytes();
      chain.add(
          new SendWorkRequest(
              i,
              new ScatterGatherEntry(slot, workload.bytes(), target.lkey()),
              remote.address() + workload.offset(i, remote.length()),
              remote.rkey(),
              true));
    }
    return chain;
  }

  /** Polls for a while, then sleeps until there is an event. */
  private int awaitCompletions() throws IOException {
    long spinUntil = System.nanoTime() + SPIN_NANOS;
    do {
      if (queue.poll(completions) > 0) {
        return succeeded();
      }
      Thread.onSpinWait();
    } while (System.nanoTime() - spinUntil < 0);
    queue.requestNotify();
    if (queue.poll(completions) == 0 && !channel.await(STALL_MS)) {
      throw new IOException("no READ completed within " + STALL_MS + " ms");
    }
    return succeeded();
  }

  private int succeeded() throws IOException {
    for (int i = 0; i < completions.size(); i++) {
      if (completions.status(i) != WorkCompletionStatus.SUCCESS) {
        throw new IOException("READ " + completions.wrId(i) + ": " + completions.status(i));
      }
    }
    return completions.size();
  }

  @Override
  public void close() throws IOException {
    queuePair.close();
    target.close();
    queue.close();
    channel.close();
    arena.close();
  }
}
