// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
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
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * One application that a node serves: one of Spark, or a MapReduce job. It has its own device,
 * protection domain, registered and staging memory. Its connections have to authenticate with its
 * secret. A process of another application therefore cannot reach its bytes, whatever key it
 * guesses.
 *
 * <p>Any thread. {@link NodeDaemon} opens it, its {@link Application} closes it. Costs the device's
 * threads, and those of the registry and of the stager.
 */
abstract class ServedApplication implements AutoCloseable {
  private final NodeDevice device;
  private final ProcessName self;
  private final String host;
  private final ApplicationState first;
  private final long openedNanos = System.nanoTime();
  private final StartedParts parts = new StartedParts();
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final Stager stager;
  private final TimedRequests readers;

  private volatile long lastSignNanos = System.nanoTime();

  /** Never false again. */
  private volatile boolean over;

  private volatile boolean closed;

  /**
   * Opens all parts but the port.
   *
   * @param nodeId id by which peers know the node
   * @param host address by which processes of the application reach the node
   * @param state the application's state, with any port
   * @param directories local directories of the map outputs
   * @param folder returns a folder of each directory in which the daemon may make files
   * @param answers returns true for a directory whose disk answers
   * @param outputs finds the map outputs
   * @param timer the daemon's timer
   */
  ServedApplication(
      NodeDevice device,
      NodeId nodeId,
      String host,
      ApplicationState state,
      List<Path> directories,
      UnaryOperator<Path> folder,
      Predicate<Path> answers,
      MapOutputFiles outputs,
      ScheduledExecutorService timer)
      throws IOException {
    this.device = device;
    this.self = new ProcessName(state.name(), nodeId.toString());
    this.host = host;
    this.first = state;
    boolean opened = false;
    try {
      endpoint = parts.started(device.openEndpoint());
      ProtectionDomain domain = endpoint.protectionDomain();
      registry =
          parts.started(
              openRegistry(
                  LocalDirectories.probe(
                      domain, RegistrationMode.AUTO, directories, folder, answers),
                  outputs));
      stager = parts.started(openStager(timer));
      readers =
          new TimedRequests(
              BlockServer.handler(
                  self, endpoint.device().providerName(), endpoint, registry, stager));
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private MapOutputRegistry openRegistry(LocalDirectories directories, MapOutputFiles outputs) {
    ProtectionDomain domain = endpoint.protectionDomain();
    return new MapOutputRegistry(
        domain,
        directories,
        outputs,
        device.memory().registryLimits(domain.registersFiles()),
        device.files(),
        device.indexes(),
        MapOutputListener.NONE,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  private Stager openStager(ScheduledExecutorService timer) {
    return new Stager(
        endpoint.protectionDomain(),
        registry,
        device.memory().stagingBytes(),
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime,
        timer);
  }

  /**
   * Adds a part that needs those before it, and is closed before them.
   *
   * @return the part
   */
  final <T extends AutoCloseable> T started(T part) {
    return parts.started(part);
  }

  /** Answers requests to the application's block server. For the threads of a transport. */
  final TimedRequests readers() {
    return readers;
  }

  /** Port where it is served. */
  abstract int port();

  ProcessName self() {
    return self;
  }

  String name() {
    return self.application();
  }

  /** State with the port that it listens on. */
  ApplicationState state() {
    return first.withPort(port());
  }

  /** Records a sign of life of a process that enters, and returns the answer to it. */
  Registered entered() {
    sign();
    return new Registered(self.id(), host, port(), endpoint.device().providerName(), folders());
  }

  /** Paths of the folders that executors put map outputs into. */
  List<String> folders() {
    return List.of();
  }

  /** Records a sign of life of the application. */
  void sign() {
    lastSignNanos = System.nanoTime();
  }

  /** Time since a process of the application last sent a message. READs do not count. */
  long silentNanos() {
    return System.nanoTime() - lastSignNanos;
  }

  /** Looks for kept map outputs that have come or gone unnoticed. Waits for disks. */
  void scan() {}

  /** Number of shuffles with map outputs that the daemon keeps. */
  int shuffles() {
    return 0;
  }

  /** Number of map outputs that the daemon keeps. */
  long outputs() {
    return 0;
  }

  /** Bytes of the data files of these map outputs. */
  long bytes() {
    return 0;
  }

  MapOutputRegistry registry() {
    return registry;
  }

  Counters<RegistryCounter> registryCounters() {
    return registry.counters();
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
   * Ends the application. Does nothing if it gave a sign of life within this time. Does nothing
   * either if the daemon stops, which leaves it to the next one.
   *
   * @return true if it has ended
   */
  boolean end(Duration silence) {
    over |= silence.isZero() || silentNanos() >= silence.toNanos();
    return over && !closed;
  }

  /** Returns true if it has ended, or the daemon stops. */
  final boolean isOver() {
    return over || closed;
  }

  /** Stops serving; the folders stay. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    parts.close();
  }
}
