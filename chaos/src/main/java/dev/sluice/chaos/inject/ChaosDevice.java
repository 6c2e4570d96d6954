// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.StoredFile;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;

/**
 * A device of any provider that carries out the agent's orders. It counts queue pairs and the
 * regions that peers may READ, and audits every READ. {@link ChaosBackends} creates it; the
 * endpoint closes it. Threads and closing are those of the wrapped device; the agent's thread reads
 * the counts, and the thread {@code chaos-serving} breaks serving queue pairs.
 */
final class ChaosDevice implements Device {
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

  int servedRegions() {
    return served.size();
  }

  int queuePairs(boolean serving) {
    return (int) queuePairs.stream().filter(queuePair -> queuePair.isServing() == serving).count();
  }

  /** Records that a queue pair with so many outstanding READs is broken on purpose. */
  void breaks(int underWay) {
    mostBroken.accumulate(underWay);
  }

  /** Returns the maximum of outstanding READs of such queue pairs. */
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

  void closed(ChaosQueuePair queuePair) {
    queuePairs.remove(queuePair);
    audit.destroyed(queuePair.qpNumber());
  }

  @Override
  public String providerName() {
    return device.providerName();
  }

  @Override
  public String name() {
    return device.name();
  }

  @Override
  public DeviceAttributes attributes() {
    return device.attributes();
  }

  @Override
  public Gid gid() {
    return device.gid();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    return new Domain(device.allocateProtectionDomain());
  }

  @Override
  public CompletionChannel createCompletionChannel() throws VerbsException {
    return device.createCompletionChannel();
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries, CompletionChannel channel)
      throws VerbsException {
    return new ChaosCompletionQueue(device.createCompletionQueue(entries, channel), agent, audit);
  }

  @Override
  public void close() {
    device.close();
  }

  private final class Domain implements ProtectionDomain {
    private final ProtectionDomain domain;

    Domain(ProtectionDomain domain) {
      this.domain = domain;
    }

    @Override
    public Device device() {
      return ChaosDevice.this;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access)
        throws VerbsException {
      if (agent.strikes(Injection.REGISTER_ENOMEM)) {
        throw enomem("ibv_reg_mr");
      }
      if (!access.contains(AccessFlag.REMOTE_READ)) {
        return domain.register(memory, access);
      }
      return serve(new Served(domain.register(memory, access)));
    }

    @Override
    public boolean registersFiles() {
      return domain.registersFiles();
    }

    @Override
    public FileRegion registerFile(StoredFile file, long bytes) throws VerbsException {
      if (agent.strikes(Injection.REGISTER_ENOMEM)) {
        throw enomem("register a file");
      }
      return serve(new ServedFile(domain.registerFile(file, bytes)));
    }

    private <R extends Served> R serve(R region) {
      served.add(region);
      return region;
    }

    @Override
    public QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException {
      if (agent.strikes(Injection.QUEUE_PAIR_ENOMEM)) {
        throw enomem("ibv_create_qp");
      }
      QueuePair created =
          domain.createQueuePair(((ChaosCompletionQueue) completions).queue(), depth);
      ChaosQueuePair queuePair = new ChaosQueuePair(created, ChaosDevice.this, agent, audit);
      queuePairs.add(queuePair);
      return queuePair;
    }

    private VerbsException enomem(String verb) {
      return new VerbsException(verb, VerbsException.ENOMEM, "injected by the fault harness");
    }

    @Override
    public void close() {
      domain.close();
    }
  }

  /** A registered file that peers may READ. */
  private final class ServedFile extends Served implements FileRegion {
    private final FileRegion file;

    ServedFile(FileRegion file) {
      super(file);
      this.file = file;
    }

    @Override
    public void copy(long position, byte[] target, int offset, int length) throws IOException {
      file.copy(position, target, offset, length);
    }
  }

  /** A region that peers may READ. */
  private class Served implements MemoryRegion {
    private final MemoryRegion region;

    Served(MemoryRegion region) {
      this.region = region;
    }

    @Override
    public long address() {
      return region.address();
    }

    @Override
    public long length() {
      return region.length();
    }

    @Override
    public int lkey() {
      return region.lkey();
    }

    @Override
    public int rkey() {
      return region.rkey();
    }

    @Override
    public void close() {
      region.close();
      served.remove(this);
    }
  }
}
