package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory of one shuffle's registered map outputs: mappings of data files, and slabs from which
 * segments of partition tables are carved.
 *
 * <p>One shared arena holds all of it, because closing one costs a handshake with every thread of
 * the process: once a shuffle instead of once a file. The price is that a single map output's
 * mapping stays, and counts as an open file does, until the shuffle's memory goes, also the first
 * one that could not be registered. From then on each has an arena of its own, so that what fails
 * again and again takes no more.
 *
 * <p>References are counted: the owner holds one, and whoever touches the memory holds one
 * meanwhile; the last to {@link #release} it unmaps. All else is called with the owner's lock held.
 *
 * <p>Tables cost 16 bytes a partition: 160 KB a map output of 10,000 partitions. Where 1,000
 * executors hold 100,000 such map outputs, that is 20 MB an executor. Slabs grow from 16 KiB to 1
 * MiB, so that many small shuffles cost little and a large one takes one region for several
 * segments.
 */
final class ShuffleMemory {
  private static final Set<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);
  private static final long MIN_SLAB_BYTES = 16 << 10;
  private static final long MAX_SLAB_BYTES = 1 << 20;

  /** A piece of a slab, and where peers READ it. */
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

  /** What is taken from the budget. */
  private Cost reserved = Cost.NONE;

  /** Of that, what there is: the same, unless a registration is under way or has failed. */
  private Cost held = Cost.NONE;

  private boolean hasFailed;
  private MemorySegment slab = MemorySegment.NULL;
  private long slabUsedBytes;
  private long nextSlabBytes = MIN_SLAB_BYTES;

  ShuffleMemory(ProtectionDomain domain, RegistrationBudget budget) {
    this.domain = domain;
    this.budget = budget;
  }

  /** Whether a segment of tables finds room as things are, and its first map output's data. */
  boolean hasRoom(long bytes, Cost data) {
    return budget.fits(tableCost(bytes).plus(data), Cost.NONE);
  }

  /** What a segment of tables will take. */
  Cost tableCost(long bytes) {
    return fitsSlab(bytes) ? Cost.NONE : Cost.region(slabBytes(bytes));
  }

  /** Takes it from the budget, to which it returns when the memory is unmapped. */
  boolean reserve(Cost cost) {
    if (!budget.reserve(cost)) {
      return false;
    }
    reserved = reserved.plus(cost);
    return true;
  }

  /** What it takes from the budget. */
  Cost reserved() {
    return reserved;
  }

  /** A registration has failed: gives back what was reserved for it and is not there. */
  void giveBack() {
    budget.release(reserved.minus(held));
    reserved = held;
  }

  /** Registers a data file, which is mapped into this memory where its form wants that. */
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

  /** Room for a segment of tables. */
  Table table(long bytes) throws IOException {
    if (!fitsSlab(bytes)) {
      load(arena -> addSlab(arena, slabBytes(bytes)));
    }
    MemoryRegion region = slabs.getLast();
    Table table =
        new Table(
            slab.asSlice(slabUsedBytes, bytes),
            new RemoteRegion(region.address() + slabUsedBytes, bytes, region.rkey()));
    slabUsedBytes += bytes;
    return table;
  }

  private boolean fitsSlab(long bytes) {
    return bytes <= slab.byteSize() - slabUsedBytes;
  }

  private long slabBytes(long bytes) {
    return Math.max(nextSlabBytes, Cost.wholePages(bytes));
  }

  private MemoryRegion addSlab(Arena arena, long bytes) throws VerbsException {
    MemorySegment memory = arena.allocate(bytes, Cost.PAGE_BYTES);
    held = held.plus(Cost.region(bytes));
    MemoryRegion region = domain.register(memory, REMOTE_READ);
    slabs.add(region);
    slab = memory;
    slabUsedBytes = 0;
    nextSlabBytes = Math.min(2 * nextSlabBytes, MAX_SLAB_BYTES);
    return region;
  }

  /** Deregisters the slabs and drops the owner's reference. The data are closed before. */
  void close() {
    slabs.forEach(MemoryRegion::close);
    release();
  }

  /** Keeps the memory mapped until {@link #release}; false when it is unmapped. Any thread. */
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

  /** Unmaps the memory when nobody uses it any more. Any thread. */
  void release() {
    if (references.decrementAndGet() == 0) {
      shared.close();
      others.forEach(Arena::close);
      budget.release(reserved);
    }
  }
}
