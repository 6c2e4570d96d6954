package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.transfer.Backoff;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One epoch of a shuffle: from the first map output after the shuffle was unknown or unregistered,
 * to {@link #close}, after which nothing can be registered in it any more.
 *
 * <p>Map outputs are registered by the registry's thread and looked up by any. The lock is held for
 * as long as one map output takes to register, so that {@link #close} and {@link #invalidate} leave
 * no registration behind that is half done. A disk that does not answer may hold it for ever: who
 * does not get it in time leaves what is to be done to the holder.
 */
final class RegisteredShuffle {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredShuffle.class);
  private static final long MAX_WAIT_MS = 10_000;

  /** Finds room in the budget. */
  interface Room {
    /**
     * Reserves what {@code cost} says for the memory.
     *
     * @param table whether it is a partition table without its data
     * @throws NoRoomException when that much is not left
     */
    void reserve(ShuffleMemory memory, Cost cost, boolean table) throws NoRoomException;
  }

  private final int id;
  private final ProtectionDomain domain;
  private final LocalDirectories directories;
  private final RegistrationBudget budget;
  private final RegistryCounters counters;
  private final LongSupplier clockMs;
  private final ConcurrentHashMap<Long, RegisteredMapOutput> outputs = new ConcurrentHashMap<>();

  /** Map outputs that cannot be registered for a reason of their own, such as their disk. */
  private final ConcurrentHashMap<Long, Backoff> failures = new ConcurrentHashMap<>();

  private volatile long lastReadMs;

  private final ReentrantLock lock = new ReentrantLock();

  /** Deregistrations that whoever holds the lock does before it is free. */
  private final Queue<Runnable> ends = new ConcurrentLinkedQueue<>();

  // Guarded by the lock.
  private ShuffleMemory memory;
  private TableSegments tables;
  private boolean closed;

  RegisteredShuffle(
      int id,
      ProtectionDomain domain,
      LocalDirectories directories,
      RegistrationBudget budget,
      RegistryCounters counters,
      LongSupplier clockMs) {
    this.id = id;
    this.domain = domain;
    this.directories = directories;
    this.budget = budget;
    this.counters = counters;
    this.clockMs = clockMs;
  }

  int id() {
    return id;
  }

  /** Null when it is not registered. */
  RegisteredMapOutput get(long mapId) {
    return outputs.get(mapId);
  }

  boolean isEmpty() {
    return outputs.isEmpty();
  }

  /** Of all map outputs that are registered now, segment by segment: as they are published best. */
  List<MapOutputLocation> locations() {
    return outputs.values().stream()
        .map(RegisteredMapOutput::location)
        .sorted(
            Comparator.comparingLong(
                    (MapOutputLocation location) -> location.segment().region().address())
                .thenComparingInt(MapOutputLocation::slot))
        .toList();
  }

  /** What deregistering it would release. */
  Cost cost() {
    lock.lock(); // Others hold it as long as deregistering takes.
    try {
      return memory == null ? Cost.NONE : memory.reserved();
    } finally {
      unlock();
    }
  }

  /** Whether nothing is registered, nor known to be impossible to register. */
  boolean isBlank() {
    return outputs.isEmpty() && failures.isEmpty();
  }

  /** The shuffle is READ: it is not idle. */
  void touch() {
    lastReadMs = clockMs.getAsLong();
  }

  /**
   * The map output is new, so that an earlier failure to register it says nothing. Never blocks.
   */
  void committed(long mapId) {
    failures.remove(mapId);
  }

  long lastReadMs() {
    return lastReadMs;
  }

  /**
   * Registers a map output, or finds it registered. One that failed for a reason of its own is left
   * alone for a while: to ask a failing disk takes long, and every reader would have it asked.
   *
   * @return null when the shuffle is closed, or it is too early to try again
   * @throws NoSuchFileException when the map output does not exist (any more)
   * @throws InconsistentFilesException when its files do not fit together
   * @throws NoRoomException when the budget, the provider's own limit or the process's memory is
   *     used up
   */
  RegisteredMapOutput register(long mapId, MapOutputFiles files, Room room) throws IOException {
    lock.lock(); // Others hold it as long as deregistering takes.
    try {
      return registerLocked(mapId, files, room);
    } finally {
      unlock();
    }
  }

  private RegisteredMapOutput registerLocked(long mapId, MapOutputFiles files, Room room)
      throws IOException {
    RegisteredMapOutput known = outputs.get(mapId);
    if (closed || known != null || !mayBeTried(mapId)) {
      return known;
    }
    try {
      RegisteredMapOutput output = registerNew(mapId, files, room);
      failures.remove(mapId);
      return output;
    } catch (NoRoomException | NoSuchFileException | FileNotFoundException e) {
      throw e;
    } catch (OutOfMemoryError e) {
      // To ask for memory that there is not costs full collections, on the thread of all.
      failures.computeIfAbsent(mapId, _ -> new Backoff()).failed(clockMs.getAsLong());
      throw new NoRoomException("the process has no memory for it", e);
    } catch (IOException | RuntimeException | InternalError e) {
      failures.computeIfAbsent(mapId, _ -> new Backoff()).failed(clockMs.getAsLong());
      throw e;
    } finally {
      closeMemoryIfEmpty();
    }
  }

  private boolean mayBeTried(long mapId) {
    Backoff failure = failures.get(mapId);
    return failure == null || failure.isOver(clockMs.getAsLong());
  }

  private RegisteredMapOutput registerNew(long mapId, MapOutputFiles files, Room room)
      throws IOException {
    MapOutputFiles.Files found = files.find(id, mapId);
    if (found == null) {
      throw new NoSuchFileException("map output " + mapId + " of shuffle " + id);
    }
    RegisteredMapOutput output = register(mapId, found, room);
    outputs.put(mapId, output);
    counters.add(RegistryCounter.REGISTERED_OUTPUTS, 1);
    if (!Files.exists(found.index())) {
      remove(mapId);
      throw new NoSuchFileException(found.index().toString());
    }
    return output;
  }

  private RegisteredMapOutput register(long mapId, MapOutputFiles.Files files, Room room)
      throws IOException {
    MapOutputIndex index = MapOutputIndex.read(files);
    if (index.dataBytes() == 0) {
      // Spark writes no data file where every partition is empty.
      DataFile.checkLength(
          files.data(), Files.exists(files.data()) ? Files.size(files.data()) : 0, 0);
      return register(mapId, files, index, null, room);
    }
    try {
      return registerData(mapId, files, index, room);
    } catch (NoRoomException | RegistrationUnavailableException | VerbsException e) {
      LOG.debug("Shuffle {}: map output {} is to be staged", id, mapId, e);
      return stageData(mapId, files, index, room, e);
    }
  }

  private RegisteredMapOutput registerData(
      long mapId, MapOutputFiles.Files files, MapOutputIndex index, Room room) throws IOException {
    RegistrationForm form = directories.form(files.data(), clockMs.getAsLong());
    try (DataFile data = DataFile.open(files.data(), index.dataBytes(), form)) {
      return register(mapId, files, index, data, room);
    }
  }

  /** Registers the partition table alone: the data are copied when somebody asks for them. */
  private RegisteredMapOutput stageData(
      long mapId, MapOutputFiles.Files files, MapOutputIndex index, Room room, IOException reason)
      throws IOException {
    DataFile.checkLength(files.data(), Files.size(files.data()), index.dataBytes());
    try {
      RegisteredMapOutput output = register(mapId, files, index, null, room);
      counters.add(RegistryCounter.STAGED_OUTPUTS, 1);
      return output;
    } catch (NoRoomException e) {
      e.addSuppressed(reason);
      throw e;
    }
  }

  private RegisteredMapOutput register(
      long mapId, MapOutputFiles.Files files, MapOutputIndex index, DataFile file, Room room)
      throws IOException {
    if (memory == null) {
      memory = new ShuffleMemory(domain, budget);
      tables = new TableSegments(memory);
    }
    boolean staged = file == null && index.dataBytes() > 0;
    Cost dataCost = file == null ? Cost.NONE : file.cost();
    Cost cost = tables.nextCost(index.partitions(), dataCost, staged);
    room.reserve(memory, cost, staged);
    boolean registered = false;
    try {
      TableSlot table = tables.next(index.partitions());
      index.writeTo(table);
      RegisteredData data = file == null ? null : register(file);
      MapOutputHeader header =
          new MapOutputHeader(
              mapId,
              data == null
                  ? MapOutputHeader.unregistered(index.dataBytes())
                  : data.region().toRemote(),
              index.hasChecksums() ? files.checksumAlgorithm() : ChecksumAlgorithm.NONE);
      table.set(header);
      tables.keep(table);
      registered = true;
      return new RegisteredMapOutput(header, files.data(), data, table, memory);
    } catch (IOException e) {
      throw isExhaustion(e) ? exhausted(cost, e) : e;
    } finally {
      if (!registered) {
        memory.giveBack();
      }
    }
  }

  private RegisteredData register(DataFile file) throws IOException {
    RegisteredData data = memory.register(file);
    file.count(counters);
    return data;
  }

  /**
   * ENOMEM of the provider, or of mmap, which FileChannel.map wraps: a heap that is full is
   * neither.
   */
  private static boolean isExhaustion(IOException e) {
    return e.getCause() instanceof OutOfMemoryError
        || (e instanceof VerbsException verbs && verbs.errno() == VerbsException.ENOMEM);
  }

  private NoRoomException exhausted(Cost cost, IOException cause) {
    budget.refused(cost);
    return new NoRoomException("a limit of the system or of the provider is reached", cause);
  }

  /** The map output's files are replaced or deleted. Waits as {@link #close}. */
  void invalidate(long mapId) {
    end(
        () -> {
          failures.remove(mapId);
          remove(mapId);
        });
  }

  /** Deregisters all map outputs, which may be registered again later; failures are forgotten. */
  void evict() {
    end(this::removeAll);
  }

  /**
   * Ends the epoch: no region of it is left, and none will be. Waits for the end of a registration
   * under way; where that takes longer than 10 s, or the thread is interrupted, the regions go when
   * it ends. Their files may go before: what is mapped stays as it was. Idempotent.
   */
  void close() {
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
            "Shuffle {}: a registration has not ended in {} ms, as when a disk does not answer: its"
                + " regions go when it ends",
            id,
            MAX_WAIT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void unlock() {
    do {
      try {
        for (Runnable next = ends.poll(); next != null; next = ends.poll()) {
          next.run();
          closeMemoryIfEmpty();
        }
      } finally {
        lock.unlock();
      }
    } while (!ends.isEmpty() && lock.tryLock()); // Nobody else may have seen the last ones.
  }

  private void removeAll() {
    failures.clear();
    outputs.keySet().forEach(this::remove);
  }

  private void remove(long mapId) {
    RegisteredMapOutput output = outputs.remove(mapId);
    if (output != null) {
      output.deregister();
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
