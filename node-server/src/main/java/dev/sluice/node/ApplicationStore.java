// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputIndex;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.DaemonThreads.EnsuredPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs of one application at a node: those in its folders, those that are known, and those
 * that are registered. They come by hand-over or by a scan, and go when their shuffle is over. Each
 * known one costs 70 bytes of heap. An executor may take a map output back at any time, so its
 * files are looked for once more after it was added.
 *
 * <p>The {@link NodeDaemon} makes it for a {@link SparkApplication}, which opens it with its
 * registry and closes it. The folders stay as they are. Any thread; waits for the application's
 * disks: threads of executors' connections {@link #take}, the threads of {@link Application} {@link
 * #scan}, and those of the registry and the transport {@link #find}. A thread {@code
 * sluice-node-disk} deletes files, and ends when it is idle. {@link AdmissionControl} and {@link
 * NodeMetric} read the totals, which never blocks.
 */
final class ApplicationStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationStore.class);

  /**
   * A known map output.
   *
   * @param folder its folder
   * @param bytes size of its data file
   */
  private record Held(ApplicationFolder folder, long bytes) {}

  /** Known map outputs of a shuffle. They change only within {@code compute}. */
  private static final class Shuffle {
    final ConcurrentHashMap<Long, Held> byMapId = new ConcurrentHashMap<>();
    volatile long lastAddedNanos;
  }

  private final List<ApplicationFolder> folders;
  private final AdmissionControl admission;
  private final Duration expireAfter;

  /** Set by {@link #open}, which precedes every other call. */
  @SuppressWarnings("NullAway.Init")
  private MapOutputRegistry registry;

  private final ConcurrentHashMap<Integer, Shuffle> known = new ConcurrentHashMap<>();

  /** Number of known map outputs; changes with {@link #known}, as the next field does. */
  private final AtomicLong outputs = new AtomicLong();

  private final AtomicLong bytes = new AtomicLong();

  private final EnsuredPool remover = new EnsuredPool(1, DaemonThreads.named("sluice-node-disk"));
  private final AtomicBoolean renewing = new AtomicBoolean();

  /**
   * @param admission admits map outputs
   * @param expireAfter age of unfinished map outputs that a scan removes
   */
  ApplicationStore(
      List<ApplicationFolder> folders, AdmissionControl admission, Duration expireAfter) {
    this.folders = folders;
    this.admission = admission;
    this.expireAfter = expireAfter;
  }

  /** Returns the finder of map outputs for the registry. */
  MapOutputFiles finder() {
    return new Found();
  }

  /**
   * @param opened registry of the map outputs that this finds
   */
  void open(MapOutputRegistry opened) {
    registry = opened;
  }

  List<ApplicationFolder> folders() {
    return folders;
  }

  /** Parent directories of the folders, one on each of the node's file systems. */
  List<Path> directories() {
    return folders.stream().map(ApplicationFolder::directory).toList();
  }

  /** Number of shuffles with known map outputs. */
  int shuffles() {
    return known.size();
  }

  /** Number of known map outputs. */
  long outputs() {
    return outputs.get();
  }

  /** Bytes of their data files. */
  long bytes() {
    return bytes.get();
  }

  /**
   * Takes a map output that an executor has put into one of the folders.
   *
   * @param number index of the folder
   * @throws IOException if it is refused, with the reason
   */
  void take(int shuffleId, long mapId, int number) throws IOException {
    ApplicationFolder folder = folders.get(Objects.checkIndex(number, folders.size()));
    MapOutputFiles.Files files = folder.find(shuffleId, mapId);
    if (files == null) {
      throw new IOException(
          "map output %d of shuffle %d is not in %s".formatted(mapId, shuffleId, folder.path()));
    }
    long dataBytes = MapOutputIndex.dataBytes(files);
    if (!isHeld(shuffleId, mapId, folder)) {
      admission.take(folder.directory(), dataBytes);
    }
    if (Files.size(files.data()) != dataBytes) {
      throw new IOException(
          "%s has %d bytes, but its index describes %d"
              .formatted(files.data(), Files.size(files.data()), dataBytes));
    }
    add(shuffleId, mapId, new Held(folder, dataBytes));
    registry.add(shuffleId, mapId, files);
    checkIsThere(shuffleId, mapId);
  }

  /** Returns true if it is known. Forgets it if an executor that gave up took it back elsewhere. */
  private boolean isHeld(int shuffleId, long mapId, ApplicationFolder folder) {
    Held held = held(shuffleId, mapId);
    if (held != null && held.folder() != folder && !held.folder().has(shuffleId, mapId)) {
      forget(shuffleId, mapId);
      return false;
    }
    return held != null;
  }

  /**
   * @throws NoSuchFileException if it was taken back meanwhile, as by an executor that gave up
   *     waiting
   */
  private void checkIsThere(int shuffleId, long mapId) throws NoSuchFileException {
    if (!isThere(shuffleId, mapId)) {
      forget(shuffleId, mapId);
      throw new NoSuchFileException(
          "map output %d of shuffle %d was removed meanwhile".formatted(mapId, shuffleId));
    }
  }

  private boolean isThere(int shuffleId, long mapId) {
    return foldersOf(shuffleId, mapId).stream().anyMatch(folder -> folder.has(shuffleId, mapId));
  }

  private @Nullable Held held(int shuffleId, long mapId) {
    Shuffle shuffle = known.get(shuffleId);
    return shuffle == null ? null : shuffle.byMapId.get(mapId);
  }

  /** Adds a map output unless it is known. */
  private void add(int shuffleId, long mapId, Held added) {
    known.compute(
        shuffleId,
        (_, before) -> {
          Shuffle shuffle = before == null ? new Shuffle() : before;
          shuffle.lastAddedNanos = System.nanoTime();
          if (shuffle.byMapId.putIfAbsent(mapId, added) == null) {
            outputs.incrementAndGet();
            bytes.addAndGet(added.bytes());
          }
          return shuffle;
        });
  }

  private void forget(int shuffleId, long mapId) {
    known.computeIfPresent(
        shuffleId,
        (_, shuffle) -> {
          Held removed = shuffle.byMapId.remove(mapId);
          if (removed != null) {
            outputs.decrementAndGet();
            bytes.addAndGet(-removed.bytes());
          }
          return shuffle.byMapId.isEmpty() ? null : shuffle;
        });
    registry.invalidate(shuffleId, mapId);
  }

  /** Finds the files; of a known one only in its folder, so that no disk waits for another one. */
  MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
    for (ApplicationFolder folder : foldersOf(shuffleId, mapId)) {
      MapOutputFiles.Files files = folder.find(shuffleId, mapId);
      if (files != null) {
        return files;
      }
    }
    return null;
  }

  private List<ApplicationFolder> foldersOf(int shuffleId, long mapId) {
    Held held = held(shuffleId, mapId);
    return held == null ? folders : List.of(held.folder());
  }

  /** Lets the registry find files. */
  private final class Found implements MapOutputFiles {
    @Override
    public MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
      return ApplicationStore.this.find(shuffleId, mapId);
    }

    @Override
    public List<Path> paths(int shuffleId, long mapId) {
      return foldersOf(shuffleId, mapId).stream().map(ApplicationFolder::path).toList();
    }
  }

  /**
   * Takes all map outputs in the folders that are not known yet, and forgets known ones that are
   * missing. After a start these are all; later, those whose executor died before it could report
   * them. A million map outputs take half a minute, and are served meanwhile.
   *
   * @param isOver returns true once no more may be taken
   */
  void scan(BooleanSupplier isOver) {
    known.forEach(
        (shuffleId, shuffle) -> {
          for (long mapId : Set.copyOf(shuffle.byMapId.keySet())) {
            if (!isThere(shuffleId, mapId)) {
              forget(shuffleId, mapId);
            }
          }
        });
    for (ApplicationFolder folder : folders) {
      try {
        if (Files.isDirectory(folder.path())) {
          scan(folder, isOver);
        }
      } catch (IOException | DirectoryIteratorException e) {
        LOG.error(
            "Cannot scan {} for kept map outputs; going on with the other folders",
            folder.path(),
            e);
      }
    }
  }

  private void scan(ApplicationFolder folder, BooleanSupplier isOver) throws IOException {
    folder.forEach(
        (shuffleId, mapId) -> {
          if (!isOver.getAsBoolean() && held(shuffleId, mapId) == null) {
            takeFound(shuffleId, mapId, folder);
          }
        });
    folder.removeUnfinished(expireAfter);
  }

  /** Takes a map output. The registry checks its files when a reader wants it. */
  private void takeFound(int shuffleId, long mapId, ApplicationFolder folder) {
    MapOutputFiles.Files files = folder.find(shuffleId, mapId);
    try {
      if (files != null) {
        add(shuffleId, mapId, new Held(folder, Files.size(files.data())));
        checkIsThere(shuffleId, mapId);
      }
    } catch (NoSuchFileException e) {
      LOG.debug("Map output {} of shuffle {} was removed during the scan", mapId, shuffleId, e);
    } catch (IOException e) {
      LOG.warn("The scan skips map output {} of shuffle {}: {}", mapId, shuffleId, e.toString());
    }
  }

  /**
   * Removes a shuffle that is over. Completes when its present map outputs are gone. New ones may
   * be written under the same id before the thread gets to it.
   */
  CompletableFuture<Void> remove(int shuffleId) {
    Map<Long, Held> removed = forgotten(known.remove(shuffleId));
    return CompletableFuture.runAsync(() -> delete(shuffleId, removed), remover);
  }

  /**
   * Soon removes all shuffles that are not listed as live, unless a map output was added since.
   * Renewals that come faster than the disk works are dropped.
   */
  void removeBut(Renew live) {
    if (!renewing.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture.runAsync(() -> removeAllBut(live.liveShuffles(), live.lastHeard()), remover)
        .whenComplete(
            (_, failure) -> {
              renewing.set(false);
              if (failure != null) {
                LOG.warn(
                    "Removing ended shuffles failed; some of their files stay for now", failure);
              }
            });
  }

  private void removeAllBut(int[] live, NodeResponse since) {
    Set<Integer> over = new HashSet<>(known.keySet());
    Arrays.stream(live).forEach(over::remove);
    for (int shuffleId : over) {
      Map<Long, Held> removed = new HashMap<>();
      known.computeIfPresent(
          shuffleId,
          (_, shuffle) -> {
            if (shuffle.lastAddedNanos - since.nodeNanos() >= 0) {
              return shuffle;
            }
            removed.putAll(forgotten(shuffle));
            return null;
          });
      delete(shuffleId, removed);
    }
  }

  /** Returns the map outputs of a shuffle that is no longer known; none if it is null. */
  private Map<Long, Held> forgotten(@Nullable Shuffle removed) {
    if (removed == null) {
      return Map.of();
    }
    outputs.addAndGet(-removed.byMapId.size());
    bytes.addAndGet(-removed.byMapId.values().stream().mapToLong(Held::bytes).sum());
    return removed.byMapId;
  }

  /**
   * @param removed forgotten already; others may be added to the shuffle meanwhile
   */
  private void delete(int shuffleId, Map<Long, Held> removed) {
    if (removed.isEmpty()) {
      return;
    }
    IOException failure = null;
    for (Map.Entry<Long, Held> output : removed.entrySet()) {
      try {
        output.getValue().folder().remove(shuffleId, output.getKey());
      } catch (IOException e) {
        failure = e; // One failing disk does not keep files on others.
      }
    }
    registry.invalidate(shuffleId, removed.keySet());
    if (failure != null) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Starts no more removals. Those that were asked for go on. */
  @Override
  public void close() {
    remover.stop(0);
  }
}
