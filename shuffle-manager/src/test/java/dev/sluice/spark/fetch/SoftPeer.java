// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.soft.FaultPlan;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.spark.transport.MapOutput;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** An executor that serves map outputs over the software provider, with real files. */
public final class SoftPeer implements AutoCloseable {
  public static final TransportConf TRANSPORT_CONF =
      new TransportConf("shuffle", MapConfigProvider.EMPTY);

  static final String APPLICATION = "app";
  static final RegistryLimits ALL = new RegistryLimits(1 << 30, 1000, 0);
  static final TransferOptions OPTIONS =
      TransferOptions.DEFAULT.with(
          o -> {
            o.bufferPoolBytes = 16 << 20;
            o.maxQueuePairs = 8;
            o.sendQueueDepth = 64;
            o.maxReadBytes = 1 << 16;
            o.connectTimeoutMs = 2_000;
            o.circuitFailures = 100;
            o.circuitCooldownMs = 100;
            o.spinMicros = 0;
          });

  private final ScheduledExecutorService timer = DaemonThreads.timer();
  private final Path directory;
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final Stager stager;
  private final BlockServer server;

  /** Opens a peer that registers everything. */
  SoftPeer(Path directory) throws IOException {
    this(directory, FaultPlan.NONE, ALL, 1 << 20);
  }

  /** Opens a peer that maps registered files, as with a device. */
  public static SoftPeer mapping(Path directory) throws IOException {
    return new SoftPeer(directory, SoftPeer::withoutFiles, FaultPlan.NONE, ALL, 1 << 20);
  }

  /**
   * @param stagingBytes size of the memory for staging
   */
  SoftPeer(Path directory, FaultPlan faults, RegistryLimits limits, long stagingBytes)
      throws IOException {
    this(directory, UnaryOperator.identity(), faults, limits, stagingBytes);
  }

  private SoftPeer(
      Path directory,
      UnaryOperator<ProtectionDomain> registering,
      FaultPlan faults,
      RegistryLimits limits,
      long stagingBytes)
      throws IOException {
    this.directory = directory;
    this.endpoint = endpoint(faults, (_, _, _) -> null);
    ProtectionDomain domain = registering.apply(endpoint.protectionDomain());
    this.registry =
        new MapOutputRegistry(
            domain,
            LocalDirectories.probe(domain, RegistrationMode.AUTO, List.of(directory)),
            this::find,
            limits,
            MapOutputListener.NONE,
            () -> System.nanoTime() / 1_000_000);
    this.stager =
        new Stager(endpoint.protectionDomain(), registry, stagingBytes, 2, System::nanoTime, timer);
    this.server =
        new BlockServer(
            new BlockServer.Binding(TRANSPORT_CONF, null, 0, List.of()),
            new ProcessName(APPLICATION, "7"),
            SoftProvider.NAME,
            endpoint,
            registry,
            stager);
  }

  private static ProtectionDomain withoutFiles(ProtectionDomain domain) {
    return (ProtectionDomain)
        Proxy.newProxyInstance(
            SoftPeer.class.getClassLoader(),
            new Class<?>[] {ProtectionDomain.class},
            (_, method, arguments) ->
                method.getName().equals("registersFiles")
                    ? false
                    : method.invoke(domain, arguments));
  }

  /** Opens an endpoint that stands for another process. */
  static RdmaEndpoint endpoint(FaultPlan faults, QueuePairConnector connector) throws IOException {
    SoftProvider provider = new SoftProvider(SoftOptions.DEFAULT.with(o -> o.faults = faults));
    return RdmaEndpoint.open(provider.open(InetAddress.getLoopbackAddress()), OPTIONS, connector);
  }

  PeerAddress address() {
    return new PeerAddress("7", "localhost", server.port());
  }

  public MapOutputRegistry registry() {
    return registry;
  }

  /** Writes Spark's three files of a map output. */
  public void write(MapOutput output) throws IOException {
    Files.write(file(output.mapId(), "data"), output.data());
    Files.write(file(output.mapId(), "index"), output.index());
    if (output.algorithm() != ChecksumAlgorithm.NONE) {
      Files.write(file(output.mapId(), "checksum"), output.checksums());
    }
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) {
    Path data = file(mapId, "data");
    if (!Files.exists(data)) {
      return null;
    }
    Path index = file(mapId, "index");
    Path checksums = file(mapId, "checksum");
    return Files.exists(checksums)
        ? new MapOutputFiles.Files(data, index, checksums, ChecksumAlgorithm.CRC32C)
        : new MapOutputFiles.Files(data, index, null, ChecksumAlgorithm.NONE);
  }

  private Path file(long mapId, String suffix) {
    return directory.resolve(mapId + "." + suffix);
  }

  /** Closes the server, as if no request could reach it. Its staged bytes are gone. */
  void closeServer() {
    server.close();
    stager.close();
  }

  @Override
  public void close() {
    closeServer();
    registry.close();
    endpoint.close();
    timer.shutdownNow();
  }
}
