// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.DataFile;
import dev.sluice.blocks.directory.MapOutputData;
import dev.sluice.blocks.directory.RegistrationBudget;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationBudget.NoRoomException;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of one shuffle's registered map outputs: mappings of data files, and slabs from which
 * segments of partition tables are carved.
 *
 * <p>One shared arena holds all of it. Closing an arena costs a handshake with every thread of the
 * process, so this happens once a shuffle instead of once a file. The price: the mapping of a
 * single map output stays, and keeps its cost in the budget, until the shuffle's memory is
 * unmapped. The first mapping whose registration failed stays too, and counts as an open file does.
 * From then on each mapping gets an arena of its own, so that repeated failures take no more.
 *
 * <p>References are counted. The {@link ShuffleOutputs} creates and owns it, and holds one. Each
 * thread holds one while it uses the memory; the last {@link #release} unmaps it. All methods but
 * {@link #retain} and {@link #release} need the owner's lock.
 *
 * <p>Tables cost 16 bytes a partition: 160 KB for a map output of 10,000 partitions. If 1,000
 * executors hold 100,000 such map outputs, that is 20 MB an executor with free slots. {@link
 * TableSlabs} has the sizes of slabs.
 */
final class ShuffleMemory {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleMemory.class);
  private static final Set<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);

  /** Piece of a slab, and the address at which peers READ it. */
  record Table(MemorySegment memory, RemoteRegion remote) {}

  private interface Load<T> {
    T into(Arena arena) throws IOException;
  }

  private final ProtectionDomain domain;
  private final RegistrationBudget budget;
  private final Arena shared = Arena.ofShared();
  private final List<Arena> others = new ArrayList<>();
  private final AtomicInteger references = new AtomicInteger(1);
  private final List<MemoryRegion> slabs = new ArrayList<>();
  private final TableSlabs sizes = new TableSlabs();

  /** Cost that is taken from the budget. */
  private Cost reserved = Cost.NONE;

  /** Part of {@link #reserved} that exists: all, unless a registration is running or has failed. */
  private Cost held = Cost.NONE;

  private boolean hasFailed;
  private MemorySegment slab = MemorySegment.NULL;

  ShuffleMemory(ProtectionDomain domain, RegistrationBudget budget) {
    this.domain = domain;
    this.budget = budget;
  }

  /** Returns true if there is room now for a segment of tables and its first map output's data. */
  boolean hasRoom(long bytes, Cost data) {
    return budget.fits(tableCost(bytes).plus(data), Cost.NONE);
  }

  /** Returns the cost of a segment of tables. */
  Cost tableCost(long bytes) {
    return sizes.cost(bytes);
  }

  /** Takes the cost from the budget, to which it returns when the memory is unmapped. */
  void reserve(Cost cost) throws NoRoomException {
    budget.reserve(cost);
    reserved = reserved.plus(cost);
  }

  /** Returns the cost that is taken from the budget. */
  Cost reserved() {
    return reserved;
  }

  /** Gives back, after a failed registration, the reserved cost of memory that does not exist. */
  void giveBack() {
    budget.release(reserved.minus(held));
    reserved = held;
  }

  /** Registers a data file. Maps it into this memory first if its form requires that. */
  MapOutputData register(DataFile file) throws IOException {
    if (!file.isMapping()) {
      MapOutputData data = file.register(domain);
      held = held.plus(file.cost());
      return data;
    }
    return load(
        arena -> {
          Cost before = held;
          MemorySegment bytes = file.map(arena);
          held = before.plus(Cost.NO_MEMORY);
          MapOutputData data = file.register(domain, bytes);
          held = before.plus(file.cost());
          return data;
        });
  }

  private <T> T load(Load<T> load) throws IOException {
    Cost before = held;
    Arena arena = hasFailed ? Arena.ofShared() : shared;
    try {
      T loaded = load.into(arena);
      if (arena != shared) {
        others.add(arena);
      }
      return loaded;
    } catch (IOException | RuntimeException | Error e) {
      hasFailed = true;
      if (arena != shared) {
        arena.close();
        held = before;
      }
      throw e;
    }
  }

  /** Returns memory for a segment of tables, from a new slab if the last one is full. */
  Table table(long bytes) throws IOException {
    if (!sizes.fits(bytes)) {
      load(arena -> addSlab(arena, sizes.newSlabBytes(bytes)));
    }
    MemoryRegion region = slabs.getLast();
    long start = slab.byteSize() - sizes.take(bytes);
    return new Table(
        slab.asSlice(start, bytes),
        new RemoteRegion(region.address() + start, bytes, region.rkey()));
  }

  private MemoryRegion addSlab(Arena arena, long bytes) throws VerbsException {
    MemorySegment memory = arena.allocate(bytes, PageSize.BYTES);
    held = held.plus(Cost.region(bytes));
    MemoryRegion region = domain.register(memory, REMOTE_READ);
    slabs.add(region);
    slab = memory;
    sizes.add(bytes);
    return region;
  }

  /** Deregisters the slabs and drops the owner's reference. The data are closed before. */
  void close() {
    for (MemoryRegion region : slabs) {
      try {
        region.close();
      } catch (RuntimeException | Error e) { // The other slabs must be closed.
        TaskFailures.log(LOG, "Deregistering a memory region of partition tables failed", e);
      }
    }
    release();
  }

  /** Keeps the memory mapped until {@link #release}; false if it was unmapped. Any thread. */
  boolean retain() {
    int count = references.get();
    while (count > 0) {
      if (references.compareAndSet(count, count + 1)) {
        return true;
      }
      count = references.get();
    }
    return false;
  }

  /** Drops a reference; the last one unmaps the memory. Any thread. */
  void release() {
    if (references.decrementAndGet() == 0) {
      shared.close();
      others.forEach(Arena::close);
      budget.release(reserved);
    }
  }
}
