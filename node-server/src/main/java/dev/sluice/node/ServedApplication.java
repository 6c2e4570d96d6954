// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationMode;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeRequest;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.TransportConf;

/**
 * One application that a node serves. It has its own device, protection domain, registered and
 * staging memory, and its own port, which asks for its secret. A process of another application
 * therefore cannot reach its bytes, whatever key it guesses.
 *
 * <p>Any thread. {@link NodeDaemon} opens it, its {@link Application} closes it. Threads of
 * executors' connections hand over, the transport's threads bring the driver's messages. Costs the
 * device's threads, those of the registry and of the stager, and 2 to 8 for the port.
 */
final class ServedApplication implements AutoCloseable {
  private final NodeDevice device;
  private final ProcessName self;
  private final ApplicationPort port;
  private final List<ApplicationFolder> folders;
  private final Runnable end;
  private final long openedNanos = System.nanoTime();
  private final RdmaEndpoint endpoint;
  private final ApplicationStore store;
  private final BlockServer server;

  private final StartedParts parts = new StartedParts();

  /** Read lock: a hand-over until it is answered. Write lock: the end of all hand-overs. */
  private final ReadWriteLock handOvers = new ReentrantReadWriteLock();

  private volatile long lastSignNanos = System.nanoTime();

  /** Never false again. Written with the write lock of {@link #handOvers}. */
  private volatile boolean over;

  private volatile boolean closed;

  /**
   * Serves the map outputs in the folders. {@link #scan} counts them and finds those that are gone.
   *
   * @param nodeId id by which peers know the node
   * @param port port to listen on
   * @param admission admits map outputs
   * @param end called when the driver says that the application is over; must not block
   */
  ServedApplication(
      NodeDevice device,
      NodeId nodeId,
      ApplicationPort port,
      List<ApplicationFolder> folders,
      AdmissionControl admission,
      Runnable end)
      throws IOException {
    this.device = device;
    this.self = new ProcessName(port.state().name(), nodeId.toString());
    this.port = port;
    this.folders = folders;
    this.end = end;
    boolean opened = false;
    try {
      endpoint = parts.started(device.openEndpoint());
      LocalDirectories directories =
          LocalDirectories.probe(endpoint.protectionDomain(), RegistrationMode.AUTO, directories());
      store =
          parts.started(
              new ApplicationStore(
                  folders,
                  admission,
                  device.options().get(NodeSettings.EXPIRE_AFTER),
                  files -> openRegistry(directories, files)));
      Stager stager = parts.started(openStager());
      server = parts.started(listen(stager));
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private MapOutputRegistry openRegistry(LocalDirectories directories, MapOutputFiles files) {
    ProtectionDomain domain = endpoint.protectionDomain();
    return new MapOutputRegistry(
        domain,
        directories,
        files,
        device.memory().registryLimits(domain.registersFiles()),
        device.files(),
        device.indexes(),
        MapOutputListener.NONE,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  private Stager openStager() {
    return new Stager(
        endpoint.protectionDomain(),
        store.registry(),
        device.memory().stagingBytes(),
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime);
  }

  private BlockServer listen(Stager stager) throws IOException {
    TransportConf conf = ApplicationPort.transport();
    ExternalBlockHandler blocks =
        new ExternalBlockHandler(
            new OneForOneStreamManager(),
            new NodeBlockResolver(conf, name(), store::find, store.registry()));
    parts.started(blocks::close);
    return port.listen(
        conf,
        binding ->
            new BlockServer(
                binding,
                self,
                endpoint.device().providerName(),
                endpoint,
                store.registry(),
                stager,
                peers -> new NodeHandler(peers, blocks, this::hear, end, this::sign)));
  }

  String name() {
    return self.application();
  }

  /** State with the port that it listens on. */
  ApplicationState state() {
    return port.state().withPort(server.port());
  }

  /** Records a sign of life of an executor that enters, and returns the answer to it. */
  Registered entered() throws IOException {
    sign();
    return new Registered(
        self.id(),
        port.host(),
        server.port(),
        endpoint.device().providerName(),
        folders.stream().map(folder -> folder.path().toString()).toList());
  }

  /** Parent directories of its folders, one on each of the node's file systems. */
  List<Path> directories() {
    return folders.stream().map(ApplicationFolder::directory).toList();
  }

  /** Records a sign of life of the application. */
  void sign() {
    lastSignNanos = System.nanoTime();
  }

  /** Time since a process of the application last sent a message. READs do not count. */
  long silentNanos() {
    return System.nanoTime() - lastSignNanos;
  }

  /**
   * Takes a map output that an executor has put into one of the folders.
   *
   * @param folder index of the folder
   * @throws IOException if it is refused, with the reason
   */
  void handOver(int shuffleId, long mapId, int folder) throws IOException {
    handOvers.readLock().lock();
    try {
      if (isOver()) {
        throw new IOException("application " + self.application() + " has ended on this node");
      }
      sign();
      store.take(shuffleId, mapId, folder);
    } finally {
      handOvers.readLock().unlock();
    }
  }

  /** See {@link ApplicationStore#scan}. */
  void scan() {
    store.scan(this::isOver);
  }

  /**
   * Handles a message of a driver. The driver may be another application's, if its application was
   * silent for so long that this one has the port now. Never blocks; completes when it is done.
   */
  private CompletableFuture<NodeResponse> hear(NodeRequest told) {
    if (!told.application().equals(name())) {
      String reason = "this port now belongs to application %s, not to %s";
      return CompletableFuture.failedFuture(
          new IOException(reason.formatted(name(), told.application())));
    }
    sign();
    NodeResponse heard = new NodeResponse(self.id(), System.nanoTime());
    return switch (told.lifetime()) {
      case RemoveShuffle(int shuffleId) -> store.remove(shuffleId).thenApply(_ -> heard);
      case Renew renewal -> {
        if (renewal.lastHeard().nodeId().equals(self.id())) {
          store.removeBut(renewal);
        }
        yield CompletableFuture.completedFuture(heard);
      }
      case EndApplication() -> CompletableFuture.completedFuture(heard);
    };
  }

  ApplicationStore store() {
    return store;
  }

  Counters<RegistryCounter> registryCounters() {
    return store.registry().counters();
  }

  RdmaEndpoint endpoint() {
    return endpoint;
  }

  /** Provider and name of the device. */
  String device() {
    return endpoint.device().providerName() + " " + endpoint.device().name();
  }

  long ageNanos() {
    return System.nanoTime() - openedNanos;
  }

  /**
   * Ends hand-overs, and returns when none is under way. Does nothing if the application gave a
   * sign of life within this time. Does nothing either if the daemon stops, which leaves it to the
   * next one.
   *
   * @return true if hand-overs have ended
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

  /** Returns true if no more hand-overs are taken. */
  boolean isOver() {
    return over || closed;
  }

  /** Stops serving; the folders stay. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    parts.close();
  }
}
