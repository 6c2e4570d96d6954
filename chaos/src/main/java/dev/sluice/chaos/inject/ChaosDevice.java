// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.chaos.inject.Wrapper.Replaces;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.StoredFile;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Methods that replace those of a device of any provider ({@link Wrapper}), and of the objects
 * created from it. They carry out the agent's orders, count queue pairs and the regions that peers
 * may READ, and audit every READ. {@link ChaosShuffleManager} creates it. Sluice's endpoint uses
 * and closes {@link #wrapped} on its own threads, as any device. The agent's thread reads the
 * counts. The thread {@code chaos-serving} calls {@link #disturbServing}.
 */
@SuppressWarnings("UnusedMethod") // a Wrapper calls them
final class ChaosDevice {
  private final Device device;
  private final ChaosAgent agent;
  private final ReadAudit audit;
  private final Set<MemoryRegion> served = ConcurrentHashMap.newKeySet();
  private final Set<ChaosQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private final LongAccumulator mostBroken = new LongAccumulator(Math::max, 0);

  ChaosDevice(Device device, ChaosAgent agent, ReadAudit audit) {
    this.device = device;
    this.agent = agent;
    this.audit = audit;
  }

  /** Returns the device with the methods of this class. */
  Device wrapped() {
    return Wrapper.of(Device.class, device, this);
  }

  int servedRegions() {
    return served.size();
  }

  int queuePairs(boolean serving) {
    return (int) queuePairs.stream().filter(queuePair -> queuePair.isServing() == serving).count();
  }

  /** Returns the maximum of outstanding READs of queue pairs that were broken on purpose. */
  int mostBroken() {
    return mostBroken.intValue();
  }

  /** Breaks queue pairs that serve peers, if ordered. */
  void disturbServing() {
    for (ChaosQueuePair queuePair : queuePairs) {
      if (queuePair.isServing() && agent.strikes(Injection.SERVER_ERROR)) {
        queuePair.fail();
      }
    }
  }

  @Replaces
  ProtectionDomain allocateProtectionDomain() throws VerbsException {
    ProtectionDomain domain = device.allocateProtectionDomain();
    return Wrapper.of(ProtectionDomain.class, domain, new Domain(domain));
  }

  @Replaces
  CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel)
      throws VerbsException {
    CompletionQueue queue = device.createCompletionQueue(entries, channel);
    return Wrapper.of(CompletionQueue.class, queue, new Completions(queue));
  }

  /** Methods that replace those of a protection domain. */
  private final class Domain {
    private final ProtectionDomain domain;

    Domain(ProtectionDomain domain) {
      this.domain = domain;
    }

    @Replaces
    Device device() {
      return wrapped();
    }

    @Replaces
    MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException {
      if (agent.strikes(Injection.REGISTER_ENOMEM)) {
        throw enomem("ibv_reg_mr");
      }
      MemoryRegion region = domain.register(memory, access);
      return access.contains(AccessFlag.REMOTE_READ) ? serve(MemoryRegion.class, region) : region;
    }

    @Replaces
    FileRegion registerFile(StoredFile file, long bytes) throws VerbsException {
      if (agent.strikes(Injection.REGISTER_ENOMEM)) {
        throw enomem("register a file");
      }
      return serve(FileRegion.class, domain.registerFile(file, bytes));
    }

    private <R extends MemoryRegion> R serve(Class<R> type, R region) {
      served.add(region);
      return Wrapper.of(type, region, new Served(region));
    }

    @Replaces
    QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException {
      if (agent.strikes(Injection.QUEUE_PAIR_ENOMEM)) {
        throw enomem("ibv_create_qp");
      }
      QueuePair created =
          domain.createQueuePair(Wrapper.unwrap(CompletionQueue.class, completions), depth);
      ChaosQueuePair queuePair = new ChaosQueuePair(created);
      queuePairs.add(queuePair);
      return Wrapper.of(QueuePair.class, created, queuePair);
    }

    private VerbsException enomem(String verb) {
      return new VerbsException(verb, VerbsException.ENOMEM, "injected by the fault harness");
    }
  }

  /** Method that replaces one of a region that peers may READ. */
  private final class Served {
    private final MemoryRegion region;

    Served(MemoryRegion region) {
      this.region = region;
    }

    @Replaces
    void close() {
      region.close();
      served.remove(region);
    }
  }

  /**
   * Method that replaces one of a completion queue. It reports completed READs to the audit, and
   * falsifies bytes when ordered. The engine's thread gets the completions only after the audit has
   * them.
   */
  private final class Completions {
    private final CompletionQueue queue;

    Completions(CompletionQueue queue) {
      this.queue = queue;
    }

    @Replaces
    int poll(WorkCompletions into) throws VerbsException {
      int count = queue.poll(into);
      if (count > 0) {
        agent.stopAt(Injection.STOP_AFTER_READING);
      }
      for (int i = 0; i < count; i++) {
        for (SendWorkRequest done : audit.completed(into.qpNumber(i), into.wrId(i))) {
          if (into.status(i) == WorkCompletionStatus.SUCCESS && agent.strikes(Injection.CORRUPT)) {
            corrupt(done.local());
          }
        }
      }
      return count;
    }

    @SuppressWarnings("restricted") // The memory is a posted buffer, not yet freed.
    private void corrupt(ScatterGatherEntry target) {
      MemorySegment memory =
          MemorySegment.ofAddress(target.address())
              .reinterpret(Integer.toUnsignedLong(target.length()));
      int at = agent.choose(target.length());
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 0x40));
    }
  }

  /**
   * Methods that replace those of a queue pair, whose READs fail when ordered. The threads are
   * those of the wrapped queue pair, but any thread may {@link #fail} it. READs are in the audit
   * before they are posted, since a completion may come at once.
   */
  private final class ChaosQueuePair {
    private static final Logger LOG = LoggerFactory.getLogger(ChaosQueuePair.class);

    /** Distance that is outside any region, but within the addresses that verbs accept. */
    private static final long FAR = 1L << 46;

    private final QueuePair queuePair;
    private volatile boolean serving;

    ChaosQueuePair(QueuePair queuePair) {
      this.queuePair = queuePair;
    }

    /** Returns true if peers READ through it. */
    boolean isServing() {
      return serving;
    }

    void fail() {
      try {
        queuePair.toError();
      } catch (VerbsException | RuntimeException e) {
        LOG.info("Queue pair {} cannot be moved to ERROR: {}", number(), e.toString());
      }
    }

    @Replaces
    void postSend(List<SendWorkRequest> chain) throws PostException {
      if (agent.strikes(Injection.SLOW_POST)) {
        ControlProxy.pause(20 + agent.choose(180));
      }
      List<SendWorkRequest> changed = chain.stream().map(this::change).toList();
      changed.forEach(request -> audit.posted(number(), request));
      try {
        queuePair.postSend(changed);
      } catch (PostException e) {
        changed
            .subList(e.badIndex(), changed.size())
            .reversed()
            .forEach(request -> audit.refused(number(), request));
        throw e;
      }
      if (agent.strikes(Injection.READER_ERROR)) {
        mostBroken.accumulate(audit.underWay(number()));
        fail();
      }
      agent.stopAt(Injection.STOP_READING);
      if (!agent.isVictim() && agent.strikes(Injection.KILL_VICTIM)) {
        ProcessHandle.of(agent.victim()).ifPresent(ProcessHandle::destroyForcibly);
      }
    }

    private SendWorkRequest change(SendWorkRequest request) {
      int key = agent.strikes(Injection.BAD_KEY) ? ~request.rkey() : request.rkey();
      long address =
          agent.strikes(Injection.BAD_ADDRESS)
              ? request.remoteAddress() ^ FAR
              : request.remoteAddress();
      return new SendWorkRequest(request.wrId(), request.local(), address, key, request.signaled());
    }

    int number() {
      return queuePair.qpNumber();
    }

    @Replaces
    void toInit(Set<AccessFlag> access) throws VerbsException {
      serving = access.contains(AccessFlag.REMOTE_READ);
      queuePair.toInit(access);
    }

    @Replaces
    void close() {
      queuePair.close();
      queuePairs.remove(this);
      audit.destroyed(number());
    }
  }
}
