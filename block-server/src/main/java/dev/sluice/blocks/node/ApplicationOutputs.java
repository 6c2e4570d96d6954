package dev.sluice.blocks.node;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.node.HeldShuffles.Held;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of one application at a node: what lies in its folders, what of it is known, and
 * what is registered. Any thread; waits for the application's disks. Its {@link NodeApplication}
 * closes it, which leaves the folders as they are.
 */
final class ApplicationOutputs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationOutputs.class);

  private final List<ApplicationFolder> folders;
  private final Admission admission;
  private final Duration expireAfter;
  private final HeldShuffles held = new HeldShuffles(System::nanoTime);
  private final MapOutputRegistry registry;

  /**
   * @param admission decides what is taken
   */
  ApplicationOutputs(
      ProtectionDomain domain,
      NodeDevice device,
      List<ApplicationFolder> folders,
      Admission admission)
      throws IOException {
    this.folders = folders;
    this.admission = admission;
    this.expireAfter = device.options().expireAfter();
    this.registry = openRegistry(domain, device);
  }

  /** What goes in a file system is tried out beside its folder, which may not be there yet. */
  private MapOutputRegistry openRegistry(ProtectionDomain domain, NodeDevice device)
      throws IOException {
    return new MapOutputRegistry(
        domain,
        LocalDirectories.probe(
            domain,
            RegistrationMode.AUTO,
            folders.stream().map(folder -> folder.path().getParent()).toList()),
        new Found(),
        device.memory().registryLimits(domain.registersFiles()),
        device.files(),
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
   * Takes what an executor has put into one of the folders.
   *
   * @param number of the folder, or {@link HandOver#UNNAMED}
   * @throws IOException when it is refused, with the reason
   */
  void take(int shuffleId, long mapId, int number) throws IOException {
    ApplicationFolder folder = folder(shuffleId, mapId, number);
    MapOutputFiles.Files files = folder.find(shuffleId, mapId);
    if (files == null) {
      throw new IOException(
          "map output %d of shuffle %d is not in %s".formatted(mapId, shuffleId, folder.path()));
    }
    long dataBytes = MapOutputIndex.read(files).dataBytes();
    if (!isHeld(shuffleId, mapId, folder)) {
      admission.take(files.data().getParent(), dataBytes);
    }
    if (Files.size(files.data()) != dataBytes) {
      throw new IOException(
          "%s has %d bytes, the index %d"
              .formatted(files.data(), Files.size(files.data()), dataBytes));
    }
    held.add(shuffleId, mapId, new Held(folder, dataBytes));
    registry.add(shuffleId, mapId);
    checkIsThere(shuffleId, mapId);
  }

  private ApplicationFolder folder(int shuffleId, long mapId, int number) {
    if (number != HandOver.UNNAMED) {
      return folders.get(Objects.checkIndex(number, folders.size()));
    }
    for (ApplicationFolder folder : folders) {
      if (folder.find(shuffleId, mapId) != null) {
        return folder;
      }
    }
    return folders.getFirst();
  }

  /** Elsewhere an executor that did not wait may have taken it back after it was held. */
  private boolean isHeld(int shuffleId, long mapId, ApplicationFolder folder) {
    Held known = held.get(shuffleId, mapId);
    if (known != null && known.folder() != folder && find(shuffleId, mapId) == null) {
      forget(shuffleId, mapId);
      return false;
    }
    return known != null;
  }

  /**
   * @throws NoSuchFileException when it was taken back meanwhile, as by an executor that does not
   *     wait any more
   */
  private void checkIsThere(int shuffleId, long mapId) throws NoSuchFileException {
    if (find(shuffleId, mapId) == null) {
      forget(shuffleId, mapId);
      throw new NoSuchFileException(
          "map output %d of shuffle %d was taken back".formatted(mapId, shuffleId));
    }
  }

  private void forget(int shuffleId, long mapId) {
    held.remove(shuffleId, mapId);
    registry.invalidate(shuffleId, mapId);
  }

  /** Where it was put, as far as that is known, so that no disk waits for another. */
  MapOutputFiles.Files find(int shuffleId, long mapId) {
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

  /** For the registry. */
  private final class Found implements MapOutputFiles {
    @Override
    public Files find(int shuffleId, long mapId) {
      return ApplicationOutputs.this.find(shuffleId, mapId);
    }

    @Override
    public List<Path> paths(int shuffleId, long mapId) {
      return foldersOf(shuffleId, mapId).stream().map(ApplicationFolder::path).toList();
    }
  }

  /**
   * Takes what lies in the folders and is not known: all of it after a start, and later on what an
   * executor that died could not say any more. Forgets what does not lie there. A million map
   * outputs take half a minute, in which they are served all the same.
   *
   * @param isOver whether nothing more is to be taken
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
        LOG.error("{} cannot be read, and the others do without it", folder.path(), e);
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

  /** Whether its files fit together the registry finds out, when somebody wants to READ it. */
  private void takeFound(int shuffleId, long mapId, ApplicationFolder folder) {
    MapOutputFiles.Files files = folder.find(shuffleId, mapId);
    try {
      if (files != null) {
        held.add(shuffleId, mapId, new Held(folder, Files.size(files.data())));
        checkIsThere(shuffleId, mapId);
      }
    } catch (NoSuchFileException e) {
      LOG.debug("Map output {} of shuffle {} is just removed", mapId, shuffleId, e);
    } catch (IOException e) {
      LOG.warn("Map output {} of shuffle {} is left out: {}", mapId, shuffleId, e.toString());
    }
  }

  @Override
  public void close() {
    registry.close();
  }
}
