// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.DataFile;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.MapOutputData;
import dev.sluice.blocks.directory.OpenFiles;
import dev.sluice.blocks.directory.RegistrationBudget;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.registry.MapOutput.PartitionTable;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>The {@link RegistrationQueue} adds pending registrations, and has each opened on a thread that
 * may wait for a disk. The {@link Registrar} then adds the map output, and any thread looks it up.
 * The {@link ShuffleLock} is held while map outputs are registered or removed, so that {@link
 * #close} and {@link #invalidate} leave no half-done registration behind. They also cancel pending
 * ones. An unserved map output holds no memory and no file, and is added without the lock.
 */
final class ShuffleOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleOutputs.class);

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

  private final PendingRegistrations pending = new PendingRegistrations();

  private volatile long lastReadMs;

  /** Set with the lock held, before the map outputs are removed. */
  private volatile boolean closed;

  private final ShuffleLock lock;

  // Guarded by the lock.
  private @Nullable ShuffleMemory memory;
  private @Nullable TableSegments tables;

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
    lock = new ShuffleLock(id);
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

  /** Returns an element for each map id: its location for peers; null if it is not served. */
  List<@Nullable MapOutputLocation> locations(long[] mapIds) {
    List<@Nullable MapOutputLocation> locations = new ArrayList<>(mapIds.length);
    for (long mapId : mapIds) {
      MapOutput output = outputs.get(mapId);
      locations.add(output == null || !output.served() ? null : output.location());
    }
    return locations;
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
   * Returns the cost that deregistering this shuffle would release. Only the {@link Registrar}
   * calls this.
   */
  Cost cost() {
    lock.lock();
    try {
      return memory == null ? Cost.NONE : memory.reserved();
    } finally {
      lock.unlock();
    }
  }

  /** Returns true if no map output is here or pending, and none is known to fail. */
  boolean isBlank() {
    return pending.isEmpty() && outputs.isEmpty() && failures.isEmpty();
  }

  PendingRegistrations pending() {
    return pending;
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
    pending.removeAll(Set.of(mapId));
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

  /**
   * Returns true if the map output is neither served nor pending, and may be tried. One that failed
   * for a reason of its own is not tried again for a while: a failing disk is slow, and every
   * reader would ask it. Never blocks.
   */
  boolean lacks(long mapId) {
    return !isServed(mapId) && !pending.has(mapId) && mayBeTried(mapId);
  }

  private boolean isServed(long mapId) {
    MapOutput output = outputs.get(mapId);
    return output != null && output.served();
  }

  private boolean mayBeTried(long mapId) {
    CircuitBreaker failure = failures.get(mapId);
    return failure == null || !failure.isOpen(clockMs.getAsLong());
  }

  /**
   * Adds a map output that only this process reads, unless it is here. Trusts its committed files,
   * and asks for their lengths alone: a reader's {@link IndexTable} checks the pages that it reads.
   * Does not wait for the lock, which a registration may hold while it waits for a disk.
   */
  void addUnserved(long mapId, MapOutputFiles.Files files) {
    touch();
    int partitions = MapOutputIndex.partitions(files);
    if (partitions < 1) {
      LOG.debug("Shuffle {}: {} is not an index; map output {}", id, files.index(), mapId);
      return;
    }
    long dataBytes = files.data().toFile().length(); // 0 without a file, as Spark leaves it
    if (outputs.putIfAbsent(mapId, unregistered(false, mapId, files, partitions, dataBytes))
        == null) {
      counters.add(RegistryCounter.REGISTERED_OUTPUTS, 1);
      counters.add(RegistryCounter.REGISTRATIONS, 1);
      // The close, or a removal of its files, may have missed it.
      if (closed || !files.index().toFile().exists()) {
        remove(mapId);
      }
    }
  }

  /**
   * Registers an opened map output. Only the {@link Registrar} calls this.
   *
   * @return null if the registration was cancelled, or the map output was registered meanwhile
   * @throws RegistrationUnavailableException if it finds no room, or a limit is reached
   * @throws NoSuchFileException if the map output does not exist (any more)
   * @throws InconsistentFilesException if its files do not fit together
   */
  @Nullable MapOutput register(PendingRegistration registration) throws IOException {
    return add(registration, true);
  }

  /**
   * Adds an opened map output without registering anything: blocks are copied when a reader asks
   * for them. Threads, null and exceptions as {@link #register}.
   */
  @Nullable MapOutput stage(PendingRegistration registration) throws IOException {
    return add(registration, false);
  }

  private @Nullable MapOutput add(PendingRegistration registration, boolean registers)
      throws IOException {
    long mapId = registration.mapId();
    lock.lock();
    try {
      if (closed || isServed(mapId) || !pending.has(registration)) {
        return null;
      }
      MapOutput output = registers ? registered(registration) : staged(registration);
      if (outputs.put(mapId, output) == null) { // else it replaces the unserved one
        counters.add(RegistryCounter.REGISTERED_OUTPUTS, 1);
      }
      Path index = registration.found().files().index();
      if (!Files.exists(index)) {
        remove(mapId);
        throw new NoSuchFileException(index.toString());
      }
      failures.remove(mapId);
      return output;
    } finally {
      try {
        closeMemoryIfEmpty();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Records that a registration failed for a reason of its own, unless it was cancelled. */
  void failed(PendingRegistration registration) {
    lock.lock();
    try {
      if (!closed && pending.has(registration)) {
        failures
            .computeIfAbsent(registration.mapId(), _ -> CircuitBreaker.backoff())
            .failed(clockMs.getAsLong());
      }
    } finally {
      lock.unlock();
    }
  }

  private MapOutput staged(PendingRegistration registration) throws IOException {
    MapOutputIndex index = registration.found().index();
    return unregistered(
        true,
        registration.mapId(),
        registration.found().files(),
        index.partitions(),
        index.dataBytes());
  }

  private MapOutput unregistered(
      boolean served, long mapId, MapOutputFiles.Files files, int partitions, long dataBytes) {
    MapOutputData data =
        new MapOutputData.Unregistered(openFiles, files.data(), files.guard(), dataBytes);
    return output(
        served, mapId, files, data, new IndexTable(indexes, files, partitions, dataBytes));
  }

  private MapOutput output(
      boolean served,
      long mapId,
      MapOutputFiles.Files files,
      MapOutputData data,
      PartitionTable table) {
    ChecksumAlgorithm algorithm =
        files.checksums() == null ? ChecksumAlgorithm.NONE : files.checksumAlgorithm();
    return new MapOutput(
        served,
        new MapOutputHeader(mapId, data.remote(), algorithm),
        files,
        directories.disks(files.data(), table.files()),
        data,
        table);
  }

  private MapOutput registered(PendingRegistration registration) throws IOException {
    PendingRegistration.Found found = registration.found();
    MapOutputIndex index = found.index();
    DataFile file = found.data();
    if (memory == null || tables == null) {
      memory = new ShuffleMemory(domain, budget);
      tables = new TableSegments(memory);
    }
    Cost cost = tables.nextCost(index.partitions(), file == null ? Cost.NONE : file.cost());
    memory.reserve(cost);
    boolean registered = false;
    try {
      TableSlot table = tables.next(index.partitions());
      index.writeTo(table);
      MapOutputData data =
          file == null
              ? new MapOutputData.Unregistered(
                  openFiles, found.files().data(), found.files().guard(), 0)
              : memory.register(file);
      MapOutput output = output(true, registration.mapId(), found.files(), data, table);
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
    pending.removeAll(mapIds);
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
    pending.clear();
    end(
        () -> {
          closed = true;
          removeAll();
        });
  }

  private void end(Runnable deregistration) {
    lock.end(
        () -> {
          deregistration.run();
          closeMemoryIfEmpty();
        });
    pending.answer();
  }

  /** An unserved map output may be added meanwhile. It holds no memory. */
  private void removeAll() {
    failures.clear();
    outputs.keySet().forEach(this::remove);
    closeMemory();
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
    if (outputs.isEmpty()) {
      closeMemory();
    }
  }

  private void closeMemory() {
    if (memory != null) {
      memory.close();
      memory = null;
      tables = null;
    }
  }
}
