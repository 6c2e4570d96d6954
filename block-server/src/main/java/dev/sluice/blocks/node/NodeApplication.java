package dev.sluice.blocks.node;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryCounters;
import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.node.HeldShuffles.Held;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.server.Stager;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Heard;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.LifetimeMessages.Told;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.NodeMessages.Entered;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One application at a node: its folders, and what serves them. It has a device of its own with its
 * own protection domain, its own registered and staging memory, and its own port where its secret
 * is asked for: so no process of another application reaches its bytes, whatever key it guesses.
 *
 * <p>Any thread. Opened and closed by {@link NodeDaemon}. Costs the device's threads, those of the
 * registry and of the stager, and 2 to 8 for the port.
 */
final class NodeApplication implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeApplication.class);

  private final NodeDevice device;
  private final ProcessName self;
  private final ApplicationPort port;
  private final List<ApplicationFolder> folders;
  private final Admission admission;
  private final Runnable end;
  private final HeldShuffles held = new HeldShuffles(System::nanoTime);
  private final long openedNanos = System.nanoTime();
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final BlockServer server;

  private final StartedParts parts = new StartedParts();

  /** Shared by hand-overs, until they are answered for; whoever ends them has it alone. */
  private final ReadWriteLock handOvers = new ReentrantReadWriteLock();

  private final Removals removals;

  private volatile long lastSignNanos = System.nanoTime();
  private volatile boolean over;
  private volatile boolean closed;

  /**
   * Serves what the folders have; it is counted, and told from what is over, by {@link #scan}.
   *
   * @param nodeId what peers know the node by
   * @param port where it is to listen
   * @param admission decides what is taken
   * @param end called when the driver says that the application is over; must not block
   */
  NodeApplication(
      NodeDevice device,
      NodeId nodeId,
      ApplicationPort port,
      List<ApplicationFolder> folders,
      Admission admission,
      Runnable end)
      throws IOException {
    this.device = device;
    this.self = new ProcessName(port.state().name(), nodeId.toString());
    this.port = port;
    this.folders = folders;
    this.admission = admission;
    this.end = end;
    boolean opened = false;
    try {
      endpoint = parts.started(device.openEndpoint());
      registry = parts.started(openRegistry());
      removals = parts.started(new Removals(held, registry));
      Stager stager = parts.started(openStager());
      server = parts.started(listen(stager));
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  /** What goes in a file system is tried out beside its folder, which may not be there yet. */
  private MapOutputRegistry openRegistry() throws IOException {
    return new MapOutputRegistry(
        endpoint.protectionDomain(),
        LocalDirectories.probe(
            endpoint.protectionDomain(),
            RegistrationMode.AUTO,
            folders.stream().map(folder -> folder.path().getParent()).toList()),
        this::find,
        device.memory().registryLimits(endpoint.protectionDomain().registersFiles()),
        device.files(),
        MapOutputListener.NONE,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  private Stager openStager() {
    return new Stager(
        endpoint.protectionDomain(),
        registry,
        device.memory().stagingBytes(),
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime);
  }

  private BlockServer listen(Stager stager) throws IOException {
    TransportConf conf = ApplicationPort.transport();
    ExternalBlockHandler blocks =
        new ExternalBlockHandler(
            new OneForOneStreamManager(),
            new NodeBlockResolver(conf, name(), this::find, registry));
    parts.started(blocks::close);
    return port.listen(
        conf,
        binding ->
            new BlockServer(
                binding,
                self,
                endpoint.device().providerName(),
                endpoint,
                registry,
                stager,
                peers -> new NodeHandler(peers, blocks, this::hear, end, this::sign)));
  }

  String name() {
    return self.application();
  }

  /** With the port that it listens on. */
  ApplicationState state() {
    return port.state().withPort(server.port());
  }

  /** An executor enters: what it has to know. */
  Entered entered() throws IOException {
    sign();
    return new Entered(
        self.id(),
        port.host(),
        server.port(),
        endpoint.device().providerName(),
        folders.stream().map(folder -> folder.path().toString()).toList());
  }

  /** The application lives, as far as is known. */
  void sign() {
    lastSignNanos = System.nanoTime();
  }

  /** For so long none of its processes has said anything, READs apart. */
  long silentNanos() {
    return System.nanoTime() - lastSignNanos;
  }

  /**
   * Takes a map output that an executor has put into one of the folders.
   *
   * @param folder its number, or {@link HandOver#UNNAMED}
   * @throws IOException when it is refused, with the reason
   */
  void handOver(int shuffleId, long mapId, int folder) throws IOException {
    handOvers.readLock().lock();
    try {
      if (isOver()) {
        throw new IOException(self.application() + " has ended here");
      }
      sign();
      check(shuffleId, mapId, folder(shuffleId, mapId, folder));
    } finally {
      handOvers.readLock().unlock();
    }
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

  private void check(int shuffleId, long mapId, ApplicationFolder folder) throws IOException {
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
  private MapOutputFiles.Files find(int shuffleId, long mapId) {
    Held known = held.get(shuffleId, mapId);
    for (ApplicationFolder folder : known == null ? folders : List.of(known.folder())) {
      MapOutputFiles.Files files = folder.find(shuffleId, mapId);
      if (files != null) {
        return files;
      }
    }
    return null;
  }

  /**
   * Takes what lies in the folders and is not known: all of it after a start, and later on what an
   * executor that died could not say any more. Forgets what does not lie there. A million map
   * outputs take half a minute, in which they are served all the same.
   */
  void scan() {
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
          scan(folder);
        }
      } catch (IOException | DirectoryIteratorException e) {
        LOG.error("{} cannot be read, and the others do without it", folder.path(), e);
      }
    }
  }

  private void scan(ApplicationFolder folder) throws IOException {
    folder.forEach(
        (shuffleId, mapId) -> {
          if (!isOver() && held.get(shuffleId, mapId) == null) {
            takeFound(shuffleId, mapId, folder);
          }
        });
    folder.removeUnfinished(device.options().expireAfter());
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

  /**
   * What a driver says: of this application, unless it was silent for so long that another one has
   * its port. Never blocks; completes when it is done.
   */
  private CompletableFuture<Heard> hear(Told told) {
    if (!told.application().equals(name())) {
      String reason = "this is the port of application %s, and no more of %s";
      return CompletableFuture.failedFuture(
          new IOException(reason.formatted(name(), told.application())));
    }
    sign();
    Heard heard = new Heard(self.id(), System.nanoTime());
    return switch (told.lifetime()) {
      case RemoveShuffle(int shuffleId) -> removals.remove(shuffleId).thenApply(_ -> heard);
      case Renew renewal -> {
        if (renewal.lastHeard().nodeId().equals(self.id())) {
          removals.removeBut(renewal);
        }
        yield CompletableFuture.completedFuture(heard);
      }
      case EndApplication() -> CompletableFuture.completedFuture(heard);
    };
  }

  HeldShuffles held() {
    return held;
  }

  RegistryCounters registryCounters() {
    return registry.counters();
  }

  RdmaEndpoint endpoint() {
    return endpoint;
  }

  /** Provider and name. */
  String device() {
    return endpoint.device().providerName() + " " + endpoint.device().name();
  }

  long ageNanos() {
    return System.nanoTime() - openedNanos;
  }

  /**
   * Takes no hand-over any more, and returns when none is under way; unless there was a sign of the
   * application within this time, or the daemon stops and leaves it to the next one.
   *
   * @return whether it is so
   */
  boolean endHandOvers(Duration silence) {
    handOvers.writeLock().lock();
    try {
      over |= silence.isZero() || silentNanos() >= silence.toNanos();
      return over && !closed;
    } finally {
      handOvers.writeLock().unlock();
    }
  }

  /** Whether hand-overs are of no use any more. */
  boolean isOver() {
    return over || closed;
  }

  /** Serves nothing any more; the folders stay. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    parts.close();
  }
}
