package dev.sluice.blocks.node;

import dev.sluice.blocks.RegistryCounters;
import dev.sluice.blocks.StartedParts;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.TransportConf;

/**
 * One application at a node: its folders, and what serves them. It has a device of its own with its
 * own protection domain, its own registered and staging memory, and its own port where its secret
 * is asked for: so no process of another application reaches its bytes, whatever key it guesses.
 *
 * <p>Any thread. Opened and closed by {@link NodeDaemon}. Costs the device's threads, those of the
 * registry and of the stager, and 2 to 8 for the port.
 */
final class NodeApplication implements AutoCloseable {
  private final NodeDevice device;
  private final ProcessName self;
  private final ApplicationPort port;
  private final List<ApplicationFolder> folders;
  private final Runnable end;
  private final long openedNanos = System.nanoTime();
  private final RdmaEndpoint endpoint;
  private final ApplicationOutputs outputs;
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
    this.end = end;
    boolean opened = false;
    try {
      endpoint = parts.started(device.openEndpoint());
      outputs =
          parts.started(
              new ApplicationOutputs(endpoint.protectionDomain(), device, folders, admission));
      removals = parts.started(new Removals(outputs.held(), outputs.registry()));
      Stager stager = parts.started(openStager());
      server = parts.started(listen(stager));
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private Stager openStager() {
    return new Stager(
        endpoint.protectionDomain(),
        outputs.registry(),
        device.memory().stagingBytes(),
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime);
  }

  private BlockServer listen(Stager stager) throws IOException {
    TransportConf conf = ApplicationPort.transport();
    ExternalBlockHandler blocks =
        new ExternalBlockHandler(
            new OneForOneStreamManager(),
            new NodeBlockResolver(conf, name(), outputs::find, outputs.registry()));
    parts.started(blocks::close);
    return port.listen(
        conf,
        binding ->
            new BlockServer(
                binding,
                self,
                endpoint.device().providerName(),
                endpoint,
                outputs.registry(),
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
      outputs.take(shuffleId, mapId, folder);
    } finally {
      handOvers.readLock().unlock();
    }
  }

  /** See {@link ApplicationOutputs#scan}. */
  void scan() {
    outputs.scan(this::isOver);
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
    return outputs.held();
  }

  RegistryCounters registryCounters() {
    return outputs.registry().counters();
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
