// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.StoredFile;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Protection domain of a {@link SoftDevice}, which creates it. It groups memory regions and queue
 * pairs that work together, and has the tables of their keys. Any thread; closed by its user or its
 * device.
 */
final class SoftProtectionDomain implements ProtectionDomain {
  private final ConcurrentMap<Integer, SoftMemoryRegion> byLkey = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, SoftRegion> byRkey = new ConcurrentHashMap<>();

  /**
   * The region that was found last, as most READs use the same few. Threads share it without
   * synchronization: a thread that does not see it yet looks the region up.
   */
  private @Nullable SoftMemoryRegion lastLocal;

  private final SoftDevice device;
  private final LeakTracker leaks;
  private final LeakTracker.Handle leak;

  SoftProtectionDomain(SoftDevice device, LeakTracker leaks) {
    this.device = device;
    this.leaks = leaks;
    leak = leaks.opened("protection domain", "of " + device);
  }

  @Override
  public SoftDevice device() {
    return device;
  }

  /**
   * Does not find keys of other domains. To a peer they are as invalid as keys that never existed.
   */
  @Nullable SoftRegion regionByRkey(int rkey) {
    return byRkey.get(rkey);
  }

  private @Nullable SoftMemoryRegion regionByLkey(int lkey) {
    SoftMemoryRegion last = lastLocal;
    if (last != null && last.lkey() == lkey && last.isOpen()) {
      return last;
    }
    SoftMemoryRegion found = byLkey.get(lkey);
    lastLocal = found;
    return found;
  }

  /**
   * Returns the region of the entry's memory, after the checks of a NIC; null if READs must not
   * write there.
   */
  @Nullable SoftMemoryRegion writable(ScatterGatherEntry entry) {
    SoftMemoryRegion region = regionByLkey(entry.lkey());
    return region != null
            && region.contains(entry.address(), entry.length())
            && region.allows(AccessFlag.LOCAL_WRITE)
        ? region
        : null;
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException {
    RegistrationChecks.check(memory, access, device);
    return device.adopt(
        () -> {
          SoftMemoryRegion region = new SoftMemoryRegion(this, memory, access);
          byLkey.put(region.lkey(), region);
          byRkey.put(region.rkey(), region);
          return region;
        });
  }

  @Override
  public boolean registersFiles() {
    return true;
  }

  @Override
  public FileRegion registerFile(StoredFile file, long bytes) throws VerbsException {
    RegistrationChecks.check(file, bytes);
    return device.adopt(
        () -> {
          SoftFileRegion region = new SoftFileRegion(this, file, bytes);
          byRkey.put(region.rkey(), region);
          return region;
        });
  }

  void deregister(SoftRegion region) {
    byLkey.remove(region.lkey());
    byRkey.remove(region.rkey());
    device.visitQueuePairs(this, queuePair -> queuePair.regionClosed(region));
    device.forget(region);
  }

  @Override
  public QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException {
    return device.createQueuePair(this, device.own(completions), depth);
  }

  LeakTracker leaks() {
    return leaks;
  }

  @Override
  public void close() {
    device.closeChildren(
        child ->
            child instanceof SoftQueuePair queuePair && queuePair.domain() == this
                || child instanceof SoftRegion region && region.domain() == this);
    device.forget(this);
    leak.closed();
  }

  @Override
  public String toString() {
    return "PD of " + device;
  }
}
