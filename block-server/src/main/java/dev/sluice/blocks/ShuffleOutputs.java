// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import dev.sluice.blocks.MapOutput.PartitionTable;
import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.verbs.VerbsException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One epoch of a shuffle, and its map outputs: registered, staged or unserved (read by this process
 * alone). {@link ShuffleEpochs} creates one for each epoch, by the factory of the {@link
 * MapOutputRegistry}. It begins with the first map output while the shuffle is unknown or
 * unregistered, and ends with {@link #close}. Nothing is registered in it afterwards.
 *
 * <p>Map outputs are opened on threads that may wait for their disks, registered on the registry's
 * thread, and looked up by any thread. The lock is held while one opened map output is registered,
 * so that {@link #close} and {@link #invalidate} leave no half-done registration behind. They also
 * cancel pending registrations. Pinning pages that are not in the page cache reads the disk; if the
 * disk does not answer, the registering thread may hold the lock for ever. A thread that does not
 * get the lock within 10 s therefore leaves its deregistration to the holder. Only {@link #unlock}
 * releases the lock; it runs these deregistrations. Map outputs are added and removed with the lock
 * held.
 */
final class ShuffleOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleOutputs.class);
  private static final long MAX_WAIT_MS = 10_000;

  /** Takes room from the budget; the {@link Registrar} implements it. */
  interface Room {
    /**
     * Reserves the {@code cost} for the memory.
     *
     * @throws RegistrationUnavailableException if that much is not left
     */
    void reserve(ShuffleMemory memory, Cost cost) throws RegistrationUnavailableException;
  }

  private final int id;
  private final ProtectionDomain domain;
  private final LocalDirectories directories;
  private final RegistrationBudget budget;
  private final IndexCache indexes;
  private final OpenFiles openFiles;
  private final Counters<RegistryCounter> counters;
  private final LongSupplier clockMs;
  private final ConcurrentHashMap<Long, MapOutput> outputs = new ConcurrentHashMap<>();

  /** Map outputs that cannot be registered for a reason of their own, such as their disk. */
  private final ConcurrentHashMap<Long, CircuitBreaker> failures = new ConcurrentHashMap<>();

  private final PendingRegistrations underWay = new PendingRegistrations();

  private volatile long lastReadMs;

  private final ReentrantLock lock = new ReentrantLock();

  /** Deregistrations that the holder of the lock runs before it leaves the lock free. */
  private final Queue<Runnable> ends = new ConcurrentLinkedQueue<>();

  // Guarded by the lock.
  private @Nullable ShuffleMemory memory;
  private @Nullable TableSegments tables;
  private boolean closed;

  ShuffleOutputs(
      int id,
      ProtectionDomain domain,
      LocalDirectories directories,
      RegistrationBudget budget,
      IndexCache indexes,
      OpenFiles openFiles,
      Counters<RegistryCounter> counters,
      LongSupplier clockMs) {
    this.id = id;
    this.domain = domain;
    this.directories = directories;
    this.budget = budget;
    this.indexes = indexes;
    this.openFiles = openFiles;
    this.counters = counters;
    this.clockMs = clockMs;
  }

  int id() {
    return id;
  }

  /** Returns the map output, or null if it is unknown here. */
  @Nullable MapOutput get(long mapId) {
    return outputs.get(mapId);
  }

  boolean isEmpty() {
    return outputs.isEmpty();
  }

  /** Returns the map output's location for peers; null if it is not served. */
  @Nullable MapOutputLocation location(long mapId) {
    MapOutput output = outputs.get(mapId);
    return output == null || !output.served() ? null : output.location();
  }

  /**
   * Returns the locations of served map outputs, sorted by segment and slot as a publisher needs
   * them.
   */
  List<MapOutputLocation> locations() {
    return outputs.values().stream()
        .filter(MapOutput::served)
        .map(MapOutput::location)
        .sorted(
            Comparator.comparingLong(
                    (MapOutputLocation location) -> location.segment().region().address())
                .thenComparingInt(MapOutputLocation::slot))
        .toList();
  }

  /**
   * Returns the cost that deregistering this shuffle would release. Only the registry's thread
   * calls this.
   */
  Cost cost() {
    lock.lock(); // Its other holders only deregister.
    try {
      return memory == null ? Cost.NONE : memory.reserved();
    } finally {
      unlock();
    }
  }

  /** Returns true if no map output is here and none is known to fail. */
  boolean isBlank() {
    return outputs.isEmpty() && failures.isEmpty();
  }

  /** Records that the shuffle is READ now and not idle. */
  void touch() {
    lastReadMs = clockMs.getAsLong();
  }

  /**
   * Prepares for a new map output. Forgets an earlier failure, and cancels a pending registration,
   * which may have looked at older files. Never blocks.
   */
  void committed(long mapId) {
    failures.remove(mapId);
    underWay.removeAll(Set.of(mapId));
  }

  long lastReadMs() {
    return lastReadMs;
  }

  /**
   * Drops the mapped pages from this process's memory. Their next use reads them again. Never
   * blocks.
   *
   * @return true if anything is mapped
   */
  boolean giveBackPages() {
    boolean any = false;
    for (MapOutput output : outputs.values()) {
      any |= output.giveBackPages();
    }
    return any;
  }

  /** Completes when none of the map outputs has a pending registration. */
  CompletableFuture<Void> await(long[] mapIds) {
    return underWay.await(mapIds);
  }

  /**
   * Begins a registration. The caller then has it {@linkplain #open opened}, {@linkplain #register
   * registered} and {@linkplain #finish finished}. A map output that failed for a reason of its own
   * is not tried again for a while: a failing disk is slow, and every reader would ask it. Never
   * blocks.
   *
   * @param served true if peers may READ it here, false if only this process reads it
   * @return null if it is registered or pending already, or if it is too early to try again
   */
  @Nullable PendingRegistration begin(long mapId, boolean served) {
    if (!mayBegin(mapId, served)) {
      return null;
    }
    PendingRegistration registration = new PendingRegistration(this, mapId, served);
    return underWay.add(registration) ? registration : null;
  }

  /** Returns true if {@link #begin} would start a registration now. */
  boolean mayBegin(long mapId, boolean served) {
    return !has(mapId, served) && !underWay.has(mapId, served) && mayBeTried(mapId);
  }

  /** Returns true if the map output is here. A served one will do if {@code served} is false. */
  private boolean has(long mapId, boolean served) {
    MapOutput output = outputs.get(mapId);
    return output != null && (output.served() || !served);
  }

  private boolean mayBeTried(long mapId) {
    CircuitBreaker failure = failures.get(mapId);
    return failure == null || !failure.isOpen(clockMs.getAsLong());
  }

  /** Finds and opens the files, unless the registration was cancelled. Waits for their disks. */
  void open(PendingRegistration registration, MapOutputFiles files) {
    if (underWay.has(registration)) {
      registration.open(() -> find(registration, files));
    }
  }

  private PendingRegistration.Found find(PendingRegistration registration, MapOutputFiles outputs)
      throws IOException {
    long mapId = registration.mapId();
    MapOutputFiles.Files files = outputs.find(id, mapId);
    if (files == null) {
      throw new NoSuchFileException("map output " + mapId + " of shuffle " + id);
    }
    MapOutputIndex index = MapOutputIndex.read(files);
    if (!registration.served()) {
      checkLength(files.data(), index);
      return new PendingRegistration.Found(files, index, null, false);
    }
    try {
      return new PendingRegistration.Found(files, index, open(files.data(), index), true);
    } catch (RegistrationUnavailableException | OutOfMemoryError e) {
      LOG.debug("Shuffle {}: map output {} cannot be registered and will be staged", id, mapId, e);
      checkLength(files.data(), index);
      return new PendingRegistration.Found(files, index, null, false);
    }
  }

  /** Ends a registration, whether it succeeded or not. */
  void finish(PendingRegistration registration) {
    underWay.remove(registration);
    underWay.answer();
  }

  /**
   * Registers an opened map output, or else has it staged. Only the registry's thread calls this.
   * The node daemon serves an unserved map output; this process reads its own copy from the files.
   *
   * @return null if the registration was cancelled, or the map output was registered meanwhile
   * @throws NoSuchFileException if the map output does not exist (any more)
   * @throws InconsistentFilesException if its files do not fit together
   */
  @Nullable MapOutput register(PendingRegistration registration, Room room) throws IOException {
    lock.lock(); // Its other holders only deregister.
    try {
      return registerLocked(registration, room);
    } finally {
      unlock();
    }
  }

  private @Nullable MapOutput registerLocked(PendingRegistration registration, Room room)
      throws IOException {
    long mapId = registration.mapId();
    if (closed || has(mapId, registration.served()) || !underWay.has(registration)) {
      return null;
    }
    try {
      MapOutput output = registerNew(registration, room);
      failures.remove(mapId);
      return output;
    } catch (NoSuchFileException | FileNotFoundException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError | OutOfMemoryError e) {
      failures.computeIfAbsent(mapId, _ -> CircuitBreaker.backoff()).failed(clockMs.getAsLong());
      throw e;
    } finally {
      closeMemoryIfEmpty();
    }
  }

  private MapOutput registerNew(PendingRegistration registration, Room room) throws IOException {
    long mapId = registration.mapId();
    PendingRegistration.Found found = registration.found();
    MapOutput output =
        found.registers()
            ? register(mapId, found, room)
            : stage(registration.served(), mapId, found);
    remove(mapId); // The unserved one, if any.
    outputs.put(mapId, output);
    counters.add(RegistryCounter.REGISTERED_OUTPUTS, 1);
    Path index = found.files().index();
    if (!Files.exists(index)) {
      remove(mapId);
      throw new NoSuchFileException(index.toString());
    }
    return output;
  }

  private MapOutput register(long mapId, PendingRegistration.Found found, Room room)
      throws IOException {
    try {
      return register(mapId, found.files(), found.index(), found.data(), room);
    } catch (RegistrationUnavailableException | VerbsException | OutOfMemoryError e) {
      LOG.debug("Shuffle {}: map output {} cannot be registered and will be staged", id, mapId, e);
      return stage(true, mapId, found);
    }
  }

  /** Opens a data file that is to be registered; null if all partitions are empty. */
  private @Nullable DataFile open(Path data, MapOutputIndex index) throws IOException {
    if (index.dataBytes() == 0) {
      checkLength(data, index);
      return null;
    }
    return DataFile.open(data, index.dataBytes(), directories.form(data, clockMs.getAsLong()));
  }

  /** Registers nothing: blocks are copied when a reader asks for them. */
  private MapOutput stage(boolean served, long mapId, PendingRegistration.Found found) {
    MapOutputFiles.Files files = found.files();
    MapOutputIndex index = found.index();
    MapOutputData data = new MapOutputData.Unregistered(openFiles, files.data(), index.dataBytes());
    PartitionTable table = new IndexTable(indexes, files, index);
    return output(served, mapId, files, index, data, table);
  }

  private MapOutput output(
      boolean served,
      long mapId,
      MapOutputFiles.Files files,
      MapOutputIndex index,
      MapOutputData data,
      PartitionTable table) {
    ChecksumAlgorithm algorithm =
        index.hasChecksums() ? files.checksumAlgorithm() : ChecksumAlgorithm.NONE;
    return new MapOutput(
        served,
        new MapOutputHeader(mapId, data.remote(), algorithm),
        files.data(),
        directories.disks(files.data(), table.files()),
        data,
        table);
  }

  /** Spark writes no data file if every partition is empty. */
  private static void checkLength(Path data, MapOutputIndex index) throws IOException {
    boolean isMissing = index.dataBytes() == 0 && !Files.exists(data);
    DataFile.checkLength(data, isMissing ? 0 : Files.size(data), index.dataBytes());
  }

  /**
   * @param file null if all partitions are empty
   */
  private MapOutput register(
      long mapId,
      MapOutputFiles.Files files,
      MapOutputIndex index,
      @Nullable DataFile file,
      Room room)
      throws IOException {
    if (memory == null || tables == null) {
      memory = new ShuffleMemory(domain, budget);
      tables = new TableSegments(memory);
    }
    Cost cost = tables.nextCost(index.partitions(), file == null ? Cost.NONE : file.cost());
    room.reserve(memory, cost);
    boolean registered = false;
    try {
      TableSlot table = tables.next(index.partitions());
      index.writeTo(table);
      MapOutputData data =
          file == null
              ? new MapOutputData.Unregistered(openFiles, files.data(), 0)
              : memory.register(file);
      MapOutput output = output(true, mapId, files, index, data, table);
      table.set(output.header());
      tables.keep(table);
      registered = true;
      return output;
    } catch (IOException e) {
      if (isExhaustion(e)) {
        budget.refused(cost);
        throw new RegistrationUnavailableException(
            "a limit of the system or of the provider is reached", e);
      }
      throw e;
    } finally {
      if (!registered) {
        memory.giveBack();
      }
    }
  }

  /** True for ENOMEM of the provider, or of mmap as wrapped by FileChannel.map; not of the heap. */
  private static boolean isExhaustion(IOException e) {
    return e.getCause() instanceof OutOfMemoryError
        || (e instanceof VerbsException verbs && verbs.errno() == VerbsException.ENOMEM);
  }

  /** Deregisters map outputs whose files are replaced or deleted. Waits as {@link #close} does. */
  void invalidate(Set<Long> mapIds) {
    underWay.removeAll(mapIds);
    end(
        () -> {
          failures.keySet().removeAll(mapIds);
          mapIds.forEach(this::remove);
        });
  }

  /** Deregisters all map outputs, which may be registered again later, and forgets failures. */
  void evict() {
    end(this::removeAll);
  }

  /**
   * Ends the epoch: no region is left, and none will follow. Waits while an opened map output is
   * being registered. If that takes longer than 10 s, or this thread is interrupted, the regions
   * end with that registration. Their files may be deleted earlier: mapped bytes stay. Idempotent.
   */
  void close() {
    underWay.clear();
    end(
        () -> {
          closed = true;
          removeAll();
        });
  }

  private void end(Runnable deregistration) {
    ends.add(deregistration);
    try {
      if (lock.tryLock() || lock.tryLock(MAX_WAIT_MS, TimeUnit.MILLISECONDS)) {
        unlock();
      } else {
        LOG.warn(
            "Shuffle {}: a registration did not end within {} ms, perhaps because a disk does not"
                + " answer; its memory regions are deregistered when it ends",
            id,
            MAX_WAIT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    underWay.answer();
  }

  private void unlock() {
    if (lock.getHoldCount() > 1) {
      lock.unlock(); // Nested: nothing ends before the outer unlock.
      return;
    }
    do {
      try {
        for (Runnable next = ends.poll(); next != null; next = ends.poll()) {
          try {
            next.run();
            closeMemoryIfEmpty();
          } catch (RuntimeException | Error e) {
            TaskFailures.log(LOG, "Deregistering map outputs of shuffle {} failed", id, e);
          }
        }
      } finally {
        lock.unlock();
      }
    } while (!ends.isEmpty() && lock.tryLock()); // An entry may have come after the last poll.
  }

  private void removeAll() {
    failures.clear();
    outputs.keySet().forEach(this::remove);
  }

  private void remove(long mapId) {
    MapOutput output = outputs.remove(mapId);
    if (output != null) {
      try {
        output.deregister();
      } catch (RuntimeException | Error e) { // The others must be deregistered.
        TaskFailures.log(LOG, "A map output of shuffle " + id + " could not be deregistered", e);
      }
      counters.add(RegistryCounter.REGISTERED_OUTPUTS, -1);
    }
  }

  private void closeMemoryIfEmpty() {
    if (outputs.isEmpty() && memory != null) {
      memory.close();
      memory = null;
      tables = null;
    }
  }
}
