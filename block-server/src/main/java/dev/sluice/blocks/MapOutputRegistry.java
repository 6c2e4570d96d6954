package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.ProtectionDomain;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of this process as memory regions.
 *
 * <p>Any thread may call any method. Registrations are done one after the other by the daemon
 * thread {@code sluice-register}, because mapping and pinning a file is not the committing task's
 * business. Whoever creates the registry closes it, before the protection domain.
 *
 * <p>The budget bounds what is registered. Where it does not suffice, the shuffle that was READ
 * least recently gives way, if it is idle; one that is in use never does, and what finds no room is
 * left to Spark's own transfer. READs are one-sided, so "READ" means that a map output of the
 * shuffle was registered, resolved, or that a reader sent a touch message. Recency is kept per
 * shuffle and not per map output: reducers read all map outputs of a shuffle, and its memory is
 * unmapped at once.
 *
 * <p>Keys belong to an epoch of a shuffle ({@link RegisteredShuffle}): {@link #unregister} ends it,
 * and only a new {@link #add} opens the next, so that a reader that comes late registers nothing
 * between {@code unregister} and the deletion of the files. One bit a shuffle remembers that.
 */
public final class MapOutputRegistry implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputRegistry.class);

  /** Registrations that wait; more than that are left to {@link #resolve}. 100 bytes each. */
  private static final int MAX_PENDING = 10_000;

  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /** Bytes of one partition range in a data file. */
  public record Segment(Path file, long offset, long length) {}

  /** A shuffle's epoch, with the number of registrations under way in it. */
  private static final class Entry {
    final RegisteredShuffle shuffle;
    int pending;

    Entry(RegisteredShuffle shuffle) {
      this.shuffle = shuffle;
    }
  }

  private final ProtectionDomain domain;
  private final MapOutputFiles files;
  private final RegistryLimits limits;
  private final MapOutputListener listener;
  private final LongSupplier clockMs;
  private final RegistryCounters counters = new RegistryCounters();
  private final RegistrationBudget budget;
  private final ThreadPoolExecutor registrar;
  private final AtomicBoolean warned = new AtomicBoolean();

  /** Read by any thread, changed with {@link #epochs} locked. */
  private final ConcurrentHashMap<Integer, Entry> shuffles = new ConcurrentHashMap<>();

  /** Shuffles that were unregistered and not added to since; also the lock. */
  private final BitSet epochs = new BitSet();

  private boolean closed;

  /** Evicted shuffles that the listener does not know of yet; the registering thread's. */
  private final Queue<Integer> withdrawals = new ArrayDeque<>();

  /**
   * @param clockMs a monotonic clock in milliseconds
   */
  public MapOutputRegistry(
      ProtectionDomain domain,
      MapOutputFiles files,
      RegistryLimits limits,
      MapOutputListener listener,
      LongSupplier clockMs) {
    this.domain = domain;
    this.files = files;
    this.limits = limits;
    this.listener = listener;
    this.clockMs = clockMs;
    budget = new RegistrationBudget(limits, counters);
    registrar =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(MAX_PENDING),
            Thread.ofPlatform().name("sluice-register").daemon().factory());
  }

  /** A committed map output: registers it soon, on the registry's own thread. Never blocks. */
  public void add(int shuffleId, long mapId) {
    Entry entry = limits.maxBytes() == 0 ? null : enter(shuffleId, true);
    if (entry != null) {
      registerSoon(entry, new long[] {mapId});
    }
  }

  /**
   * Locations of map outputs that a reader could not find in the driver's table: waits for, or
   * performs, their registration. Never blocks.
   *
   * @return one element a map id, null for what cannot be registered; never completes exceptionally
   */
  public CompletableFuture<List<MapOutputLocation>> resolve(int shuffleId, long[] mapIds) {
    Entry known = shuffles.get(shuffleId);
    if (known != null) {
      known.shuffle.touch(clockMs.getAsLong());
      List<MapOutputLocation> locations = locations(known.shuffle, mapIds);
      if (!locations.contains(null)) {
        return CompletableFuture.completedFuture(locations);
      }
    }
    Entry entry = limits.maxBytes() == 0 ? null : enter(shuffleId, false);
    return entry == null
        ? CompletableFuture.completedFuture(locations(null, mapIds))
        : registerSoon(entry, mapIds.clone());
  }

  private static List<MapOutputLocation> locations(RegisteredShuffle shuffle, long[] mapIds) {
    List<MapOutputLocation> locations = new ArrayList<>(mapIds.length);
    for (long mapId : mapIds) {
      RegisteredMapOutput output = shuffle == null ? null : shuffle.get(mapId);
      locations.add(output == null ? null : output.location());
    }
    return locations;
  }

  /**
   * Where partitions [start, end) lie in a registered map output's file; null when not registered,
   * or when it has no such partitions.
   */
  public Segment segment(int shuffleId, long mapId, int startPartition, int endPartition) {
    Entry entry = shuffles.get(shuffleId);
    RegisteredMapOutput output = entry == null ? null : entry.shuffle.get(mapId);
    return output == null ? null : output.segment(startPartition, endPartition);
  }

  /** Readers use the shuffle: it is not idle. */
  public void touch(int shuffleId) {
    Entry entry = shuffles.get(shuffleId);
    if (entry != null) {
      entry.shuffle.touch(clockMs.getAsLong());
    }
  }

  /**
   * The map output's files are replaced or deleted: its region is deregistered. Waits for one
   * registration at most; what is replaced is registered again when a reader resolves it.
   */
  public void invalidate(int shuffleId, long mapId) {
    Entry entry = shuffles.get(shuffleId);
    if (entry != null) {
      entry.shuffle.invalidate(mapId);
      dropIfUnused(entry);
    }
  }

  /**
   * Fences and deregisters the shuffle before its files are deleted: when this returns no region of
   * it is left, and until the next {@link #add} none will be. Waits for one registration at most.
   */
  public void unregister(int shuffleId) {
    Entry entry;
    synchronized (epochs) {
      epochs.set(shuffleId);
      entry = shuffles.remove(shuffleId);
    }
    if (entry != null) {
      entry.shuffle.close();
    }
  }

  public RegistryCounters counters() {
    return counters;
  }

  /** Deregisters everything; what waits to be resolved is answered. Idempotent. */
  @Override
  public void close() {
    List<Entry> entries;
    synchronized (epochs) {
      closed = true;
      entries = List.copyOf(shuffles.values());
      shuffles.clear();
    }
    entries.forEach(entry -> entry.shuffle.close());
    registrar.shutdown();
    try {
      if (!registrar.awaitTermination(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
        LOG.warn("Registrations have not ended within {} ms of closing", CLOSE_TIMEOUT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The shuffle's epoch, in which a registration begins; null where none may. */
  private Entry enter(int shuffleId, boolean opensEpoch) {
    synchronized (epochs) {
      if (closed || (!opensEpoch && epochs.get(shuffleId))) {
        return null;
      }
      epochs.clear(shuffleId);
      Entry entry = shuffles.computeIfAbsent(shuffleId, this::newEntry);
      entry.pending++;
      return entry;
    }
  }

  private Entry newEntry(int shuffleId) {
    return new Entry(new RegisteredShuffle(shuffleId, domain, budget, counters));
  }

  private void leave(Entry entry) {
    synchronized (epochs) {
      entry.pending--;
      dropIfUnused(entry);
    }
  }

  /** What readers ask for in vain, and what was evicted, leaves no trace. */
  private void dropIfUnused(Entry entry) {
    synchronized (epochs) {
      if (entry.pending == 0 && entry.shuffle.isEmpty()) {
        shuffles.remove(entry.shuffle.id(), entry);
      }
    }
  }

  private CompletableFuture<List<MapOutputLocation>> registerSoon(Entry entry, long[] mapIds) {
    try {
      return CompletableFuture.supplyAsync(() -> registerAll(entry, mapIds), registrar);
    } catch (RejectedExecutionException e) {
      LOG.debug(
          "Shuffle {}: {} map outputs are not registered now", entry.shuffle.id(), mapIds.length);
      leave(entry);
      return CompletableFuture.completedFuture(locations(entry.shuffle, mapIds));
    }
  }

  private List<MapOutputLocation> registerAll(Entry entry, long[] mapIds) {
    try {
      for (long mapId : mapIds) {
        register(entry.shuffle, mapId);
      }
      return locations(entry.shuffle, mapIds);
    } finally {
      leave(entry);
    }
  }

  private void register(RegisteredShuffle shuffle, long mapId) {
    if (shuffle.get(mapId) != null) {
      return;
    }
    shuffle.touch(clockMs.getAsLong());
    RegisteredMapOutput output = null;
    try {
      output = shuffle.register(mapId, files, (memory, cost) -> reserve(shuffle, memory, cost));
    } catch (NoSuchFileException | FileNotFoundException e) {
      counters.add(RegistryCounter.GONE, 1);
      LOG.debug("Shuffle {}: map output {} is gone: {}", shuffle.id(), mapId, e.getMessage());
    } catch (NoRoomException e) {
      counters.add(RegistryCounter.REFUSALS, 1);
      refused(shuffle, mapId, e);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      counters.add(RegistryCounter.REJECTIONS, 1);
      LOG.warn(
          "Shuffle {}: map output {} cannot be registered and goes by Spark's own transfer",
          shuffle.id(),
          mapId,
          e);
    }
    announce(shuffle.id(), output);
  }

  private void reserve(RegisteredShuffle shuffle, ShuffleMemory memory, Cost cost)
      throws NoRoomException {
    boolean possible = budget.canEverFit(cost);
    while (possible && !memory.reserve(cost)) {
      possible = evictLeastRecentlyRead(shuffle);
    }
    if (!possible) {
      throw new NoRoomException(
          "%d bytes and %d regions are needed, %s".formatted(cost.bytes(), cost.regions(), budget),
          null);
    }
  }

  private boolean evictLeastRecentlyRead(RegisteredShuffle asking) {
    long idleSinceMs = clockMs.getAsLong() - limits.idleMs();
    Entry victim =
        shuffles.values().stream()
            .filter(entry -> entry.shuffle != asking && !entry.shuffle.isEmpty())
            .filter(entry -> entry.shuffle.lastReadMs() <= idleSinceMs)
            .min(Comparator.comparingLong(entry -> entry.shuffle.lastReadMs()))
            .orElse(null);
    if (victim == null) {
      return false;
    }
    victim.shuffle.evict();
    dropIfUnused(victim);
    withdrawals.add(victim.shuffle.id());
    counters.add(RegistryCounter.EVICTIONS, 1);
    LOG.info("Shuffle {}: deregistered, idle, to make room", victim.shuffle.id());
    return true;
  }

  private void refused(RegisteredShuffle shuffle, long mapId, NoRoomException e) {
    if (!warned.compareAndSet(false, true)) {
      LOG.debug("Shuffle {}: no room for map output {}", shuffle.id(), mapId, e);
      return;
    }
    LOG.warn(
        "Shuffle {}: map output {} is not registered: {}. Its blocks, and those of map outputs that"
            + " find no room later, go by Spark's own transfer. To READ them, raise"
            + " spark.shuffle.rdma.registration.maxBytes, and the executor's memoryOverhead with it{}"
            + "; where the regions are used up, raise vm.max_map_count.",
        shuffle.id(),
        mapId,
        e.getMessage(),
        limits.pinned() ? ", and the limit of locked memory (ulimit -l)" : "",
        e.getCause());
  }

  /** With no lock held. */
  private void announce(int shuffleId, RegisteredMapOutput output) {
    try {
      for (Integer evicted = withdrawals.poll(); evicted != null; evicted = withdrawals.poll()) {
        listener.withdrawn(evicted);
      }
      if (output != null) {
        counters.add(RegistryCounter.REGISTRATIONS, 1);
        listener.registered(shuffleId, output.location());
      }
    } catch (RuntimeException e) {
      LOG.warn("Shuffle {}: what was registered could not be announced", shuffleId, e);
    }
  }
}
