// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * One side of a test: a device with a protection domain, a completion queue, and memory. The test's
 * thread uses and closes it.
 */
public final class TestNode implements AutoCloseable {
  /** Minimum work requests of a queue pair. */
  public static final int DEPTH = 128;

  /** Timeout of about 270 ms, for requests that must fail. A busy machine may exceed it. */
  public static final ConnectionAttributes SHORT_TIMEOUT =
      ConnectionAttributes.DEFAULT.with(
          c -> {
            c.timeoutExponent = 14;
            c.retryCount = 3;
            c.maxRdAtomic = 16;
          });

  /** All access rights. */
  public static final Set<AccessFlag> ALL =
      EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);

  private static final int CQ_ENTRIES = 1024;
  private static final long DEADLINE_SECONDS = 30;

  public final Arena arena = Arena.ofShared();
  public final Device device;
  public final ProtectionDomain pd;
  public final CompletionChannel channel;
  public final CompletionQueue cq;
  private final Map<MemoryRegion, MemorySegment> memories = new ConcurrentHashMap<>();

  /** Copy of a work completion. */
  public record Completed(long wrId, WorkCompletionStatus status, int qpNumber) {}

  public TestNode(Device device) throws VerbsException {
    this.device = device;
    pd = device.allocateProtectionDomain();
    channel = device.createCompletionChannel();
    cq = device.createCompletionQueue(CQ_ENTRIES, channel);
  }

  public MemoryRegion register(long bytes, Set<AccessFlag> access) throws VerbsException {
    return register(arena.allocate(bytes, 4096), access);
  }

  public MemoryRegion register(MemorySegment memory) throws VerbsException {
    return register(memory, ALL);
  }

  private MemoryRegion register(MemorySegment memory, Set<AccessFlag> access)
      throws VerbsException {
    MemoryRegion region = pd.register(memory, access);
    memories.put(region, memory);
    return region;
  }

  /** Returns the memory of a region that was registered here. */
  public MemorySegment memory(MemoryRegion region) {
    return memories.get(region);
  }

  public QueuePair createQueuePair() throws VerbsException {
    return pd.createQueuePair(cq, DEPTH);
  }

  /** Brings two queue pairs from RESET to RTS. */
  public static void connect(QueuePair a, QueuePair b) throws VerbsException {
    connect(a, b, ConnectionAttributes.DEFAULT);
  }

  public static void connect(QueuePair a, QueuePair b, ConnectionAttributes attributes)
      throws VerbsException {
    a.toInit(ALL);
    b.toInit(ALL);
    b.toRtr(a.address(), attributes);
    a.toRtr(meet(a, b.address()), attributes);
    a.toRts();
    b.toRts();
  }

  /** Completes the connection on the connecting side, once the other side is in RTR. */
  public static QueuePairAddress meet(QueuePair queuePair, QueuePairAddress remote) {
    return queuePair.rendezvous(remote, TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS)).join();
  }

  /** Polls until there are {@code count} completions, and takes no more. */
  public List<Completed> await(int count) throws VerbsException {
    return await(cq, count);
  }

  public static List<Completed> await(CompletionQueue queue, int count) throws VerbsException {
    List<Completed> all = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (all.size() < count) {
      assertThat(System.nanoTime()).as("%s of %d completions", all, count).isLessThan(deadline);
      WorkCompletions batch = new WorkCompletions(Math.min(16, count - all.size()));
      int polled = queue.poll(batch);
      for (int i = 0; i < polled; i++) {
        all.add(new Completed(batch.wrId(i), batch.status(i), batch.qpNumber(i)));
      }
      if (polled == 0) {
        Thread.yield();
      }
    }
    return all;
  }

  @Override
  public void close() {
    device.close();
    arena.close();
  }
}
