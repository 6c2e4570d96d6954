// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.OpenFiles;
import dev.sluice.blocks.directory.RegionLimit.OpenFileLimit;
import dev.sluice.blocks.directory.RegistrationBudget;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers map outputs as memory regions and evicts them again. An executor has one registry, a
 * node daemon one for each application.
 *
 * <p>Any thread may call any method. A {@link RegistrationQueue} has one map output after the other
 * registered on threads of the registry, so that committing tasks do not wait for mapping and
 * pinning. A registration waits for a disk in two cases: when it pins pages that are not in the
 * page cache, and when it asks whether opened files still exist. The daemon thread {@code
 * sluice-register} tidies up. The creator of the registry closes it, before the protection domain.
 * Each entered epoch must be left.
 *
 * <p>A budget limits the registered memory. Before it is used up, the registry evicts the shuffle
 * that was READ least recently, if it is idle, and never one in use. A map output that finds no
 * room is staged ({@link dev.sluice.blocks.staging.Stager}): nothing of it is registered. One-sided
 * READs are invisible to the registry. A shuffle counts as READ when a map output of it is
 * registered, resolved or opened here, or when a reader sends a touch message. This time is kept
 * per shuffle: reducers read all of its map outputs, and its memory is unmapped at once.
 *
 * <p>Keys of memory regions end with their epoch of the shuffle ({@link ShuffleEpochs}).
 */
public final class MapOutputRegistry implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputRegistry.class);

  /** Interval of {@link Registrar#tidy} and {@link OpenFiles#expire}. */
  private static final long TICK_MS = 1_000;

  /** Half of it is for the threads that open files, half for {@code sluice-register}. */
  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /**
   * Bytes of one partition range in a data file.
   *
   * @param mapped true if the bytes are in registered memory, too
   */
  public record Segment(Path file, long offset, long length, boolean mapped) {}

  private final LocalDirectories directories;
  private final Counters<RegistryCounter> counters = new Counters<>(RegistryCounter.class);
  private final OpenFiles files;
  private final ShuffleEpochs epochs;
  private final Registrar registrar;
  private final ScheduledThreadPoolExecutor thread;
  private final RegistrationQueue queue;

  /** Creates the only registry of a process, with its own limit of open files and its own cache. */
  public MapOutputRegistry(
      ProtectionDomain domain,
      LocalDirectories directories,
      MapOutputFiles outputs,
      RegistryLimits limits,
      MapOutputListener listener,
      LongSupplier clockMs) {
    this(
        domain,
        directories,
        outputs,
        limits,
        new OpenFileLimit(),
        IndexCache.ofExecutor(),
        listener,
        clockMs);
  }

  /**
   * @param directories local directories of the {@code outputs}
   * @param room limit of open files, shared by all registries of the process
   * @param indexes cache of index pages, shared likewise
   * @param clockMs a monotonic clock in milliseconds
   */
  public MapOutputRegistry(
      ProtectionDomain domain,
      LocalDirectories directories,
      MapOutputFiles outputs,
      RegistryLimits limits,
      OpenFileLimit room,
      IndexCache indexes,
      MapOutputListener listener,
      LongSupplier clockMs) {
    this.directories = directories;
    RegistrationBudget budget = new RegistrationBudget(limits, counters, clockMs);
    directories.count(counters);
    files = new OpenFiles(() -> TimeUnit.MILLISECONDS.toNanos(clockMs.getAsLong()), room);
    epochs =
        new ShuffleEpochs(
            id ->
                new ShuffleOutputs(
                    id, domain, directories, budget, indexes, files, counters, clockMs));
    if (limits.equals(RegistryLimits.OFF)) {
      epochs.close(); // no map output may enter
    }
    registrar = new Registrar(limits, budget, epochs, listener, counters, clockMs);
    thread = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("sluice-register"));
    queue = new RegistrationQueue(directories, outputs, limits, epochs, registrar, thread, clockMs);
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
            // A defect, which must not end this timer.
            LOG.error("Periodic work of the registry failed; it is tried again", e);
          }
        },
        intervalMs,
        intervalMs,
        TimeUnit.MILLISECONDS);
  }

  /** Registers a committed map output soon, on threads of the registry. Never blocks. */
  public void add(int shuffleId, long mapId) {
    commit(shuffleId, mapId, shuffle -> queue.add(shuffle, mapId, null));
  }

  /** Does the same for a map output whose files the caller has found. */
  public void add(int shuffleId, long mapId, MapOutputFiles.Files files) {
    commit(shuffleId, mapId, shuffle -> queue.add(shuffle, mapId, files));
  }

  /**
   * Takes a committed map output that another process serves. This process reads it from its files,
   * and registers it only when a peer resolves it here. Asks for the files' lengths on this thread,
   * and opens none of them: the first reader reads the index.
   */
  public void addUnserved(int shuffleId, long mapId, MapOutputFiles.Files files) {
    commit(shuffleId, mapId, shuffle -> shuffle.addUnserved(mapId, files));
  }

  private void commit(int shuffleId, long mapId, Consumer<ShuffleOutputs> action) {
    ShuffleOutputs shuffle = epochs.enterForCommit(shuffleId);
    if (shuffle != null) {
      try {
        shuffle.committed(mapId);
        action.accept(shuffle);
      } finally {
        epochs.leave(shuffle);
      }
    }
  }

  /**
   * Returns the locations of map outputs that a reader did not find in the driver's table. Starts
   * or awaits their registrations, for {@link RegistryLimits#resolveMs} at most. Never blocks.
   *
   * @return one element for each map id; null if it cannot be registered, or not in time
   */
  public CompletableFuture<List<@Nullable MapOutputLocation>> resolve(
      int shuffleId, long[] mapIds) {
    ShuffleOutputs known = epochs.get(shuffleId);
    if (known != null) {
      known.touch();
      List<@Nullable MapOutputLocation> locations = known.locations(mapIds);
      if (!locations.contains(null)) {
        return CompletableFuture.completedFuture(locations);
      }
    }
    ShuffleOutputs shuffle = epochs.enterForReader(shuffleId);
    if (shuffle == null) {
      return CompletableFuture.completedFuture(Collections.nCopies(mapIds.length, null));
    }
    try {
      return queue.resolve(shuffle, mapIds.clone());
    } finally {
      epochs.leave(shuffle);
    }
  }

  /** Returns a map output, or null if it is unknown here. */
  public @Nullable MapOutput output(int shuffleId, long mapId) {
    ShuffleOutputs shuffle = epochs.get(shuffleId);
    return shuffle == null ? null : shuffle.get(mapId);
  }

  /**
   * Returns the file range of partitions [start, end) of a map output.
   *
   * @return null if it is unknown here, has no such partitions, or has an index that cannot be read
   */
  public @Nullable Segment segment(
      int shuffleId, long mapId, int startPartition, int endPartition) {
    MapOutput output = output(shuffleId, mapId);
    try {
      return output == null ? null : output.segment(startPartition, endPartition);
    } catch (IOException e) {
      LOG.debug("Shuffle {}: the index of {} cannot be read", shuffleId, output, e);
      return null;
    }
  }

  /**
   * Opens partitions [start, end) of this process's own map output in mapped memory. This opens no
   * file and makes no system call, except for one at the end of the stream.
   *
   * @return null if the partitions are empty or not mapped; else the caller closes the stream,
   *     which keeps the shuffle's memory mapped until then
   */
  public @Nullable RegisteredInputStream open(
      int shuffleId, long mapId, int startPartition, int endPartition) {
    MapOutput output = output(shuffleId, mapId);
    if (output == null) {
      return null;
    }
    touch(shuffleId);
    return output.open(startPartition, endPartition);
  }

  /** Returns a reader of this process's own map outputs; null if none is known here. */
  public @Nullable MapOutputReader reader(int shuffleId) {
    ShuffleOutputs shuffle = epochs.get(shuffleId);
    return shuffle == null || shuffle.isEmpty() ? null : new MapOutputReader(shuffle);
  }

  /** Marks the shuffle as in use by readers, so that it is not idle. */
  public void touch(int shuffleId) {
    ShuffleOutputs shuffle = epochs.get(shuffleId);
    if (shuffle != null) {
      shuffle.touch();
    }
  }

  /**
   * Deregisters a map output after its files were replaced or deleted. A replaced one is registered
   * again when a reader resolves it. Waits as {@link #unregister} does.
   */
  public void invalidate(int shuffleId, long mapId) {
    invalidate(shuffleId, Set.of(mapId));
  }

  /** Deregisters several map outputs in the same way; others of their shuffle stay registered. */
  public void invalidate(int shuffleId, Set<Long> mapIds) {
    ShuffleOutputs shuffle = epochs.get(shuffleId);
    if (shuffle != null) {
      shuffle.invalidate(mapIds);
      epochs.dropIfUnused(shuffle);
    }
  }

  /**
   * Fences and deregisters the shuffle before its files are deleted. When this returns, the shuffle
   * has no region, and gets none before the next {@link #add}. Waits for one registration, for 10 s
   * at most; if its disk does not answer, the regions end when it does.
   */
  public void unregister(int shuffleId) {
    ShuffleOutputs shuffle = epochs.end(shuffleId);
    if (shuffle != null) {
      shuffle.close();
    }
  }

  /**
   * Deregisters a shuffle that has no known reader any more, as if it were idle and room were
   * needed. The shuffle stays registered if it is READ before its grace period ends. Map outputs
   * that a reader asks for later are registered again. Never blocks.
   */
  public void evict(int shuffleId) {
    ShuffleOutputs shuffle = epochs.get(shuffleId);
    if (shuffle == null) {
      return;
    }
    try {
      thread.execute(() -> registrar.evict(shuffle));
    } catch (RejectedExecutionException e) {
      LOG.debug("Shuffle {} is not evicted: the registry is closed", shuffleId);
    }
  }

  /** Returns the ids of the shuffles that have registered or pending map outputs. */
  public List<Integer> shuffles() {
    return epochs.all().map(ShuffleOutputs::id).toList();
  }

  public Counters<RegistryCounter> counters() {
    return counters;
  }

  /**
   * Fills the buffer with the data file's bytes from {@code position} on. Not for threads that may
   * be interrupted.
   *
   * @param cached true to read only if the page cache has all bytes. The call still waits for the
   *     disk if the file is not open yet, or if its file system does not tell cached bytes
   * @return false if the page cache lacks some of the bytes
   * @throws EOFException if the file is shorter
   */
  public boolean read(MapOutput output, long position, ByteBuffer target, boolean cached)
      throws IOException {
    return files.read(
        output.data(), output.file(), output.files().guard(), position, target, cached);
  }

  public LocalDirectories directories() {
    return directories;
  }

  /** Deregisters everything, and answers the resolve requests that wait. Idempotent. */
  @Override
  public void close() {
    for (ShuffleOutputs shuffle : epochs.close()) {
      try {
        shuffle.close();
      } catch (RuntimeException | Error e) { // The other shuffles, threads and files must end too.
        TaskFailures.log(LOG, "A shuffle's map outputs could not be deregistered", e);
      }
    }
    boolean opened = queue.stop(CLOSE_TIMEOUT_MS / 2);
    boolean registered = DaemonThreads.stop(thread, CLOSE_TIMEOUT_MS / 2);
    if (!opened || !registered) {
      LOG.warn("A registration is still running; the registry closes without it");
    }
    files.close();
  }
}
