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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One epoch of a shuffle: from the first map output after the shuffle was unknown or unregistered,
 * to {@link #close}, after which nothing can be registered in it any more.
 *
 * <p>Map outputs are opened on threads that may wait for their disks, registered by the registry's
 * thread and looked up by any. The lock is held for as long as one that is open takes to register,
 * so that {@link #close} and {@link #invalidate} leave no registration behind that is half done;
 * what they end before is not registered any more. To pin what is not in the page cache a disk is
 * read, which may hold the lock for ever where it does not answer: who does not get it in time
 * leaves what is to be done to the holder.
 */
final class RegisteredShuffle {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredShuffle.class);
  private static final long MAX_WAIT_MS = 10_000;

  /** Finds room in the budget. */
  interface Room {
    /**
     * Reserves what {@code cost} says for the memory.
     *
     * @throws RegistrationUnavailableException when that much is not left
     */
    void reserve(ShuffleMemory memory, Cost cost) throws RegistrationUnavailableException;
  }

  private final int id;
  private final ProtectionDomain domain;
  private final LocalDirectories directories;
  private final RegistrationBudget budget;
  private final IndexCache indexes;
  private final OpenFiles openFiles;
  private final RegistryCounters counters;
  private final LongSupplier clockMs;
  private final ConcurrentHashMap<Long, MapOutput> outputs = new ConcurrentHashMap<>();

  /** Map outputs that cannot be registered for a reason of their own, such as their disk. */
  private final ConcurrentHashMap<Long, Backoff> failures = new ConcurrentHashMap<>();

  private final UnderWay underWay = new UnderWay();

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
      IndexCache indexes,
      OpenFiles openFiles,
      RegistryCounters counters,
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

  /** Null when it is not registered. */
  MapOutput get(long mapId) {
    return outputs.get(mapId);
  }

  boolean isEmpty() {
    return outputs.isEmpty();
  }

  /** Of all map outputs that are registered now, segment by segment: as they are published best. */
  List<MapOutputLocation> locations() {
    return outputs.values().stream()
        .map(MapOutput::location)
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

  /** Whether nothing is registered, nor about to be, nor known to be impossible to register. */
  boolean isBlank() {
    return outputs.isEmpty() && failures.isEmpty() && underWay.isEmpty();
  }

  /** The shuffle is READ: it is not idle. */
  void touch() {
    lastReadMs = clockMs.getAsLong();
  }

  /**
   * The map output is new, so that an earlier failure to register it says nothing, nor what is
   * found by one under way, which may have looked before. Never blocks.
   */
  void committed(long mapId) {
    failures.remove(mapId);
    underWay.removeAll(Set.of(mapId));
  }

  long lastReadMs() {
    return lastReadMs;
  }

  /**
   * No page of what is mapped is resident any more, until it is used again. Never blocks.
   *
   * @return whether anything is mapped
   */
  boolean giveBackPages() {
    boolean any = false;
    for (MapOutput output : outputs.values()) {
      any |= output.giveBackPages();
    }
    return any;
  }

  /** Completes when none of them is under way. */
  CompletableFuture<Void> await(long[] mapIds) {
    return underWay.await(mapIds);
  }

  /**
   * Begins to register a map output: the caller has it {@linkplain #open opened}, {@linkplain
   * #register registered} and {@linkplain #finish finished}. One that failed for a reason of its
   * own is left alone for a while: to ask a failing disk takes long, and every reader would have it
   * asked. Never blocks.
   *
   * @return null when it is registered or under way already, or it is too early to try again
   */
  Registration begin(long mapId) {
    if (!mayBegin(mapId)) {
      return null;
    }
    Registration registration = new Registration(this, mapId);
    return underWay.add(registration) ? registration : null;
  }

  /** Whether it is worth while to {@link #begin}. */
  boolean mayBegin(long mapId) {
    return !outputs.containsKey(mapId) && !underWay.has(mapId) && mayBeTried(mapId);
  }

  private boolean mayBeTried(long mapId) {
    Backoff failure = failures.get(mapId);
    return failure == null || failure.isOver(clockMs.getAsLong());
  }

  /** Finds and opens its files, unless it has ended meanwhile. Waits as their disks do. */
  void open(Registration registration, MapOutputFiles files) {
    if (underWay.has(registration)) {
      registration.open(() -> find(registration.mapId(), files));
    }
  }

  private Registration.Found find(long mapId, MapOutputFiles outputs) throws IOException {
    MapOutputFiles.Files files = outputs.find(id, mapId);
    if (files == null) {
      throw new NoSuchFileException("map output " + mapId + " of shuffle " + id);
    }
    MapOutputIndex index = MapOutputIndex.read(files);
    try {
      return new Registration.Found(files, index, open(files.data(), index), true);
    } catch (RegistrationUnavailableException | OutOfMemoryError e) {
      LOG.debug("Shuffle {}: map output {} is to be staged", id, mapId, e);
      checkLength(files.data(), index);
      return new Registration.Found(files, index, null, false);
    }
  }

  /** It is registered, or not to be. */
  void finish(Registration registration) {
    underWay.remove(registration);
    underWay.answer();
  }

  /**
   * Registers a map output that is open, or else has it staged.
   *
   * @return null when that is not to be done any more, or was done meanwhile
   * @throws NoSuchFileException when the map output does not exist (any more)
   * @throws InconsistentFilesException when its files do not fit together
   */
  MapOutput register(Registration registration, Room room) throws IOException {
    lock.lock(); // Others hold it as long as deregistering takes.
    try {
      return registerLocked(registration, room);
    } finally {
      unlock();
    }
  }

  private MapOutput registerLocked(Registration registration, Room room) throws IOException {
    long mapId = registration.mapId();
    if (closed || outputs.containsKey(mapId) || !underWay.has(registration)) {
      return null;
    }
    try {
      MapOutput output = registerNew(mapId, registration.found(), room);
      failures.remove(mapId);
      return output;
    } catch (NoSuchFileException | FileNotFoundException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError | OutOfMemoryError e) {
      failures.computeIfAbsent(mapId, _ -> new Backoff()).failed(clockMs.getAsLong());
      throw e;
    } finally {
      closeMemoryIfEmpty();
    }
  }

  private MapOutput registerNew(long mapId, Registration.Found found, Room room)
      throws IOException {
    MapOutput output = found.registers() ? register(mapId, found, room) : stage(mapId, found);
    outputs.put(mapId, output);
    counters.add(RegistryCounter.REGISTERED_OUTPUTS, 1);
    Path index = found.files().index();
    if (!Files.exists(index)) {
      remove(mapId);
      throw new NoSuchFileException(index.toString());
    }
    return output;
  }

  private MapOutput register(long mapId, Registration.Found found, Room room) throws IOException {
    try {
      return register(mapId, found.files(), found.index(), found.data(), room);
    } catch (RegistrationUnavailableException | VerbsException | OutOfMemoryError e) {
      LOG.debug("Shuffle {}: map output {} is to be staged", id, mapId, e);
      return stage(mapId, found);
    }
  }

  /** Null where all partitions are empty. */
  private DataFile open(Path data, MapOutputIndex index) throws IOException {
    if (index.dataBytes() == 0) {
      checkLength(data, index);
      return null;
    }
    return DataFile.open(data, index.dataBytes(), directories.form(data, clockMs.getAsLong()));
  }

  /** Nothing of it is registered: it is copied when somebody asks for it. */
  private MapOutput stage(long mapId, Registration.Found found) {
    MapOutputFiles.Files files = found.files();
    MapOutputIndex index = found.index();
    MapOutputData data = new MapOutputData.Unregistered(openFiles, files.data(), index.dataBytes());
    PartitionTable table = new IndexTable(indexes, files, index);
    counters.add(RegistryCounter.STAGED_OUTPUTS, 1);
    return output(mapId, files, index, data, table);
  }

  private MapOutput output(
      long mapId,
      MapOutputFiles.Files files,
      MapOutputIndex index,
      MapOutputData data,
      PartitionTable table) {
    ChecksumAlgorithm algorithm =
        index.hasChecksums() ? files.checksumAlgorithm() : ChecksumAlgorithm.NONE;
    return new MapOutput(
        new MapOutputHeader(mapId, data.remote(), algorithm),
        files.data(),
        directories.disks(files.data(), table.files()),
        data,
        table);
  }

  /** Spark writes no data file where every partition is empty. */
  private static void checkLength(Path data, MapOutputIndex index) throws IOException {
    boolean isMissing = index.dataBytes() == 0 && !Files.exists(data);
    DataFile.checkLength(data, isMissing ? 0 : Files.size(data), index.dataBytes());
  }

  /**
   * @param file null where all partitions are empty
   */
  private MapOutput register(
      long mapId, MapOutputFiles.Files files, MapOutputIndex index, DataFile file, Room room)
      throws IOException {
    if (memory == null) {
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
              : register(file);
      MapOutput output = output(mapId, files, index, data, table);
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

  private MapOutputData register(DataFile file) throws IOException {
    MapOutputData data = memory.register(file);
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

  /** The map outputs' files are replaced or deleted. Waits as {@link #close}. */
  void invalidate(Set<Long> mapIds) {
    underWay.removeAll(mapIds);
    end(
        () -> {
          failures.keySet().removeAll(mapIds);
          mapIds.forEach(this::remove);
        });
  }

  /** Deregisters all map outputs, which may be registered again later; failures are forgotten. */
  void evict() {
    end(this::removeAll);
  }

  /**
   * Ends the epoch: no region of it is left, and none will be. Waits where a map output that is
   * open is just being registered; where that takes longer than 10 s, or the thread is interrupted,
   * the regions go when it ends. Their files may go before: what is mapped stays as it was.
   * Idempotent.
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
            "Shuffle {}: a registration has not ended in {} ms, as when a disk does not answer: its"
                + " regions go when it ends",
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
      lock.unlock(); // It asks for its cost to make room: nothing ends before that registration.
      return;
    }
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
    MapOutput output = outputs.remove(mapId);
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
