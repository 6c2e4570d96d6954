package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of this process as memory regions.
 *
 * <p>Any thread may call any method. Registrations are done one after the other by the daemon
 * thread {@code sluice-register}, because mapping and pinning a file is not the committing task's
 * business. Where there are several local directories it does not open files: threads {@code
 * sluice-open} do that before, one at a time for what lies in the same directories, so that a disk
 * that does not answer holds up what lies on it alone; but to pin what is not in the page cache the
 * registry's one thread reads it, and it asks whether files that were opened are still there.
 * Whoever creates the registry closes it, before the protection domain.
 *
 * <p>The budget bounds what is registered. Before it is used up, the shuffle that was READ least
 * recently gives way, if it is idle; one that is in use never does, and what finds no room is
 * staged ({@link dev.sluice.blocks.server.Stager}): nothing of it is registered, and peers ask for
 * its table as well ({@link dev.sluice.blocks.server.TableServer}). READs are one-sided and unseen,
 * so "READ" means that a map output of the shuffle was registered or resolved, or that a reader
 * sent a touch message. Recency is kept per shuffle and not per map output: reducers read all map
 * outputs of a shuffle, and its memory is unmapped at once.
 *
 * <p>Keys belong to an epoch of a shuffle ({@link ShuffleEpochs}) and end with it.
 */
public final class MapOutputRegistry implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputRegistry.class);

  /** Map outputs of a line; one beyond them is registered when a reader resolves it: 500 bytes. */
  private static final int MAX_WAITING = 100_000;

  /** Requests that wait for map outputs: 32 KB each at most. */
  private static final int MAX_REQUESTS = 10_000;

  private static final long TICK_MS = 1_000;
  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /**
   * Bytes of one partition range in a data file.
   *
   * @param mapped whether they are in registered memory, too
   */
  public record Segment(Path file, long offset, long length, boolean mapped) {}

  private final LocalDirectories directories;
  private final MapOutputFiles outputs;
  private final RegistryLimits limits;
  private final RegistryCounters counters = new RegistryCounters();
  private final OpenFiles files;
  private final ShuffleEpochs epochs;
  private final Registrar registrar;
  private final ScheduledThreadPoolExecutor thread;

  /** The same thread where there is one directory: nobody else is held up then. */
  private final ExecutorService openers;

  /** Map outputs that are opened and registered one after the other. */
  private static final class Line {
    /** The end of the last one. */
    final AtomicReference<CompletableFuture<Void>> last =
        new AtomicReference<>(CompletableFuture.completedFuture(null));

    final AtomicInteger length = new AtomicInteger();
  }

  /** By the directories that their files lie in, of which there are few sets. */
  private final Map<BitSet, Line> lines = new ConcurrentHashMap<>();

  private final AtomicInteger requests = new AtomicInteger();

  /** The process's only one. */
  public MapOutputRegistry(
      ProtectionDomain domain,
      LocalDirectories directories,
      MapOutputFiles outputs,
      RegistryLimits limits,
      MapOutputListener listener,
      LongSupplier clockMs) {
    this(domain, directories, outputs, limits, new FileRoom(), listener, clockMs);
  }

  /**
   * @param directories where {@code outputs} are
   * @param room of all registries of the process
   * @param clockMs a monotonic clock in milliseconds
   */
  public MapOutputRegistry(
      ProtectionDomain domain,
      LocalDirectories directories,
      MapOutputFiles outputs,
      RegistryLimits limits,
      FileRoom room,
      MapOutputListener listener,
      LongSupplier clockMs) {
    this.directories = directories;
    this.outputs = outputs;
    this.limits = limits;
    RegistrationBudget budget = new RegistrationBudget(limits, counters, clockMs);
    directories.count(counters);
    IndexCache indexes = new IndexCache(IndexCache.maxBytes(Runtime.getRuntime().maxMemory()));
    files = new OpenFiles(() -> TimeUnit.MILLISECONDS.toNanos(clockMs.getAsLong()), room);
    epochs =
        new ShuffleEpochs(
            id ->
                new RegisteredShuffle(
                    id, domain, directories, budget, indexes, files, counters, clockMs));
    if (limits.equals(RegistryLimits.OFF)) {
      epochs.close(); // so that nothing enters
    }
    registrar = new Registrar(limits, budget, epochs, listener, counters, clockMs);
    thread = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("sluice-register"));
    openers =
        directories.count() > 1
            ? Executors.newCachedThreadPool(DaemonThreads.named("sluice-open"))
            : thread;
    every(TICK_MS, registrar::tidy);
    every(TICK_MS, files::expire);
    if (directories.mayPageOnDemand()) {
      every(ResidentPages.TICK_MS, new ResidentPages(epochs, limits.maxBytes(), counters)::bound);
    }
  }

  private void every(long intervalMs, Runnable work) {
    thread.scheduleWithFixedDelay(
        () -> {
          try {
            work.run();
          } catch (RuntimeException | Error e) {
            LOG.error("No room was made", e); // A defect, which must not end this.
          }
        },
        intervalMs,
        intervalMs,
        TimeUnit.MILLISECONDS);
  }

  /** A committed map output: registers it soon, on threads of the registry's. Never blocks. */
  public void add(int shuffleId, long mapId) {
    RegisteredShuffle shuffle = epochs.enterForCommit(shuffleId);
    if (shuffle != null) {
      try {
        shuffle.committed(mapId);
        registerSoon(shuffle, mapId);
      } finally {
        epochs.leave(shuffle);
      }
    }
  }

  /**
   * Locations of map outputs that a reader could not find in the driver's table: waits for, or
   * performs, their registration, for {@link RegistryLimits#resolveMs} at most. Never blocks.
   *
   * @return one element a map id, null for what cannot be registered, or not by then
   */
  public CompletableFuture<List<MapOutputLocation>> resolve(int shuffleId, long[] mapIds) {
    RegisteredShuffle known = epochs.get(shuffleId);
    if (known != null) {
      known.touch();
      List<MapOutputLocation> locations = locations(known, mapIds);
      if (!locations.contains(null)) {
        return CompletableFuture.completedFuture(locations);
      }
    }
    RegisteredShuffle shuffle = epochs.enterForReader(shuffleId);
    if (shuffle == null) {
      return CompletableFuture.completedFuture(locations(null, mapIds));
    }
    try {
      return registerSoon(shuffle, mapIds.clone());
    } finally {
      epochs.leave(shuffle);
    }
  }

  /** Null when it is neither registered nor staged from. */
  public MapOutput output(int shuffleId, long mapId) {
    RegisteredShuffle shuffle = epochs.get(shuffleId);
    return shuffle == null ? null : shuffle.get(mapId);
  }

  /**
   * Where partitions [start, end) lie in the file of a map output that is registered or staged;
   * null when it is neither, when it has no such partitions, or when its index cannot be read.
   */
  public Segment segment(int shuffleId, long mapId, int startPartition, int endPartition) {
    MapOutput output = output(shuffleId, mapId);
    try {
      return output == null ? null : output.segment(startPartition, endPartition);
    } catch (IOException e) {
      LOG.debug("Shuffle {}: the index of {} cannot be read", shuffleId, output, e);
      return null;
    }
  }

  /**
   * Opens partitions [start, end) of this process's own map output where they are mapped: no file
   * is opened, and but for one at the end there is no system call.
   *
   * @return null when they are not mapped or empty; else the caller closes it, which keeps the
   *     shuffle's memory mapped until then
   */
  public RegisteredInputStream open(
      int shuffleId, long mapId, int startPartition, int endPartition) {
    MapOutput output = output(shuffleId, mapId);
    if (output == null) {
      return null;
    }
    touch(shuffleId);
    return output.open(startPartition, endPartition);
  }

  /**
   * What reads this process's own map outputs of the shuffle; null when none is registered, nor
   * staged from.
   */
  public MapOutputReader reader(int shuffleId) {
    RegisteredShuffle shuffle = epochs.get(shuffleId);
    return shuffle == null || shuffle.isEmpty() ? null : new MapOutputReader(shuffle);
  }

  /** Readers use the shuffle: it is not idle. */
  public void touch(int shuffleId) {
    RegisteredShuffle shuffle = epochs.get(shuffleId);
    if (shuffle != null) {
      shuffle.touch();
    }
  }

  /**
   * The map output's files are replaced or deleted: its region is deregistered. Called once they
   * are; what is replaced is registered again when a reader resolves it. Waits as {@link
   * #unregister}.
   */
  public void invalidate(int shuffleId, long mapId) {
    invalidate(shuffleId, Set.of(mapId));
  }

  /** The same of several; others of their shuffle stay registered. */
  public void invalidate(int shuffleId, Set<Long> mapIds) {
    RegisteredShuffle shuffle = epochs.get(shuffleId);
    if (shuffle != null) {
      shuffle.invalidate(mapIds);
      epochs.dropIfUnused(shuffle);
    }
  }

  /**
   * Fences and deregisters the shuffle before its files are deleted: when this returns no region of
   * it is left, and until the next {@link #add} none will be. Waits for one registration at most:
   * where a disk does not answer for 10 s, that region goes when it does.
   */
  public void unregister(int shuffleId) {
    RegisteredShuffle shuffle = epochs.end(shuffleId);
    if (shuffle != null) {
      shuffle.close();
    }
  }

  /**
   * Nobody is known to read the shuffle any more: soon no region of it is left, as if it had been
   * idle when room was needed, unless it is READ all the same. What is asked for later is
   * registered again. Never blocks.
   */
  public void evict(int shuffleId) {
    RegisteredShuffle shuffle = epochs.get(shuffleId);
    if (shuffle == null) {
      return;
    }
    try {
      thread.execute(() -> registrar.evict(shuffle));
    } catch (RejectedExecutionException e) {
      LOG.debug("Shuffle {} stays registered for now", shuffleId);
    }
  }

  /** Ids of the shuffles of which something is registered, or about to be. */
  public List<Integer> shuffles() {
    return epochs.all().map(RegisteredShuffle::id).toList();
  }

  public RegistryCounters counters() {
    return counters;
  }

  /**
   * Fills the buffer with the data file's bytes from {@code position} on. For threads that nobody
   * interrupts.
   *
   * @param cached whether they are wanted only where the page cache has them all; else it blocks as
   *     the file's disk does, as it does where nobody can tell, and where it is not open
   * @return false where the page cache lacks some
   * @throws EOFException when the file is shorter
   */
  public boolean read(MapOutput output, long position, ByteBuffer target, boolean cached)
      throws IOException {
    return files.read(output, position, target, cached);
  }

  public LocalDirectories directories() {
    return directories;
  }

  /** Deregisters everything; what waits to be resolved is answered. Idempotent. */
  @Override
  public void close() {
    epochs.close().forEach(RegisteredShuffle::close);
    if (!DaemonThreads.stop(openers, CLOSE_TIMEOUT_MS / 2)
        | !DaemonThreads.stop(thread, CLOSE_TIMEOUT_MS / 2)) {
      LOG.warn("A registration has not ended when nobody waits for that any more");
    }
    files.close();
  }

  private CompletableFuture<List<MapOutputLocation>> registerSoon(
      RegisteredShuffle shuffle, long[] mapIds) {
    for (long mapId : mapIds) {
      registerSoon(shuffle, mapId);
    }
    if (requests.incrementAndGet() > MAX_REQUESTS) {
      requests.decrementAndGet();
      return CompletableFuture.completedFuture(locations(shuffle, mapIds));
    }
    return shuffle
        .await(mapIds)
        .completeOnTimeout(null, limits.resolveMs(), TimeUnit.MILLISECONDS)
        .thenApply(
            _ -> {
              requests.decrementAndGet();
              return locations(shuffle, mapIds);
            });
  }

  private void registerSoon(RegisteredShuffle shuffle, long mapId) {
    if (!shuffle.mayBegin(mapId)) {
      return;
    }
    Line line = lines.computeIfAbsent(used(shuffle.id(), mapId), _ -> new Line());
    Registration registration = line.length.get() < MAX_WAITING ? shuffle.begin(mapId) : null;
    if (registration != null) {
      line.length.incrementAndGet();
      CompletableFuture<Void> end = new CompletableFuture<>();
      line.last
          .getAndSet(end)
          .thenRunAsync(() -> shuffle.open(registration, outputs), openers)
          .thenRunAsync(() -> registrar.register(registration), thread)
          .whenComplete((_, e) -> finish(registration, e))
          .whenComplete((_, _) -> line.length.decrementAndGet())
          .whenComplete((_, _) -> end.complete(null));
    }
  }

  /** Directories of those files; none where there is only one. */
  private BitSet used(int shuffleId, long mapId) {
    return openers == thread
        ? new BitSet()
        : directories.indexesOf(outputs.paths(shuffleId, mapId));
  }

  /**
   * @param e null unless it was not even tried, as after closing, or has met a defect
   */
  private void finish(Registration registration, Throwable e) {
    int shuffleId = registration.shuffle().id();
    if (e != null && e.getCause() instanceof RejectedExecutionException) {
      LOG.debug("Shuffle {}: {} is not registered any more", shuffleId, registration.mapId());
    } else if (e != null) {
      LOG.error("Shuffle {}: {} is not registered", shuffleId, registration.mapId(), e);
    }
    registration.close();
    registration.shuffle().finish(registration);
    epochs.dropIfUnused(registration.shuffle());
  }

  private static List<MapOutputLocation> locations(RegisteredShuffle shuffle, long[] mapIds) {
    List<MapOutputLocation> locations = new ArrayList<>(mapIds.length);
    for (long mapId : mapIds) {
      MapOutput output = shuffle == null ? null : shuffle.get(mapId);
      locations.add(output == null ? null : output.location());
    }
    return locations;
  }
}
