// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.node.HeldShuffles.Held;
import dev.sluice.rdma.ProtectionDomain;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs of one application at a node: those in its folders, those that are known, and those
 * that are registered. Any thread; waits for the application's disks: threads of executors'
 * connections take, the threads of {@link Application} scan, the registry's and the transport's
 * find. Its {@link ServedApplication} creates and closes it, which leaves the folders as they are.
 * An executor may take a map output back at any time, so its files are looked for once more after
 * it was added.
 */
final class ApplicationOutputs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationOutputs.class);

  private final List<ApplicationFolder> folders;
  private final AdmissionControl admission;
  private final Duration expireAfter;
  private final HeldShuffles held = new HeldShuffles(System::nanoTime);
  private final MapOutputRegistry registry;

  /**
   * @param admission admits map outputs
   */
  ApplicationOutputs(
      ProtectionDomain domain,
      NodeDevice device,
      List<ApplicationFolder> folders,
      AdmissionControl admission)
      throws IOException {
    this.folders = folders;
    this.admission = admission;
    this.expireAfter = device.options().get(NodeSettings.EXPIRE_AFTER);
    this.registry = openRegistry(domain, device);
  }

  /** Probes each file system next to the application's folder, which may not exist yet. */
  private MapOutputRegistry openRegistry(ProtectionDomain domain, NodeDevice device)
      throws IOException {
    return new MapOutputRegistry(
        domain,
        LocalDirectories.probe(
            domain,
            RegistrationMode.AUTO,
            folders.stream().map(ApplicationFolder::directory).toList()),
        new Found(),
        device.memory().registryLimits(domain.registersFiles()),
        device.files(),
        device.indexes(),
        MapOutputListener.NONE,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  HeldShuffles held() {
    return held;
  }

  MapOutputRegistry registry() {
    return registry;
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
    long dataBytes = MapOutputIndex.read(files).dataBytes();
    if (!isHeld(shuffleId, mapId, folder)) {
      admission.take(folder.directory(), dataBytes);
    }
    if (Files.size(files.data()) != dataBytes) {
      throw new IOException(
          "%s has %d bytes, but its index describes %d"
              .formatted(files.data(), Files.size(files.data()), dataBytes));
    }
    held.add(shuffleId, mapId, new Held(folder, dataBytes));
    registry.add(shuffleId, mapId);
    checkIsThere(shuffleId, mapId);
  }

  /** Returns true if it is known. Forgets it if an executor that gave up took it back elsewhere. */
  private boolean isHeld(int shuffleId, long mapId, ApplicationFolder folder) {
    Held known = held.get(shuffleId, mapId);
    if (known != null && known.folder() != folder && find(shuffleId, mapId) == null) {
      forget(shuffleId, mapId);
      return false;
    }
    return known != null;
  }

  /**
   * @throws NoSuchFileException if it was taken back meanwhile, as by an executor that gave up
   *     waiting
   */
  private void checkIsThere(int shuffleId, long mapId) throws NoSuchFileException {
    if (find(shuffleId, mapId) == null) {
      forget(shuffleId, mapId);
      throw new NoSuchFileException(
          "map output %d of shuffle %d was removed meanwhile".formatted(mapId, shuffleId));
    }
  }

  private void forget(int shuffleId, long mapId) {
    held.remove(shuffleId, mapId);
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
    Held known = held.get(shuffleId, mapId);
    return known == null ? folders : List.of(known.folder());
  }

  /** Lets the registry find files. */
  private final class Found implements MapOutputFiles {
    @Override
    public MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
      return ApplicationOutputs.this.find(shuffleId, mapId);
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
    for (int shuffleId : held.ids()) {
      for (long mapId : held.mapIds(shuffleId)) {
        if (find(shuffleId, mapId) == null) {
          forget(shuffleId, mapId);
        }
      }
    }
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
          if (!isOver.getAsBoolean() && held.get(shuffleId, mapId) == null) {
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
        held.add(shuffleId, mapId, new Held(folder, Files.size(files.data())));
        checkIsThere(shuffleId, mapId);
      }
    } catch (NoSuchFileException e) {
      LOG.debug("Map output {} of shuffle {} was removed during the scan", mapId, shuffleId, e);
    } catch (IOException e) {
      LOG.warn("The scan skips map output {} of shuffle {}: {}", mapId, shuffleId, e.toString());
    }
  }

  @Override
  public void close() {
    registry.close();
  }
}
