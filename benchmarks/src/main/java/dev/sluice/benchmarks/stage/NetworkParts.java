// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.stage.StageCommand.ServerMain;
import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * The network parts of an executor, without Spark: an endpoint on a software device, the block
 * server that connects queue pairs and stages, and the client that asks other block servers. {@link
 * StageCommand} creates readers, {@link ServerMain} servers; the creator closes it. The threads of
 * {@link StageLoad} share it.
 */
final class NetworkParts implements AutoCloseable {
  private static final int CONNECT_TIMEOUT_MS = 30_000;

  /** No bytes may be registered, so that all map outputs are staged. */
  private static final RegistryLimits LIMITS = new RegistryLimits(0, 10_000, 60_000);

  /** Default staging memory with Spark's default memory. */
  private static final long STAGING_BYTES = 24 << 20;

  /** One thread each way: Spark configures the transport's pools, which Sluice does not enlarge. */
  private static final TransportConf TRANSPORT =
      new TransportConf(
          "sluice",
          new MapConfigProvider(
              Map.of(
                  "spark.sluice.io.serverThreads", "1",
                  "spark.sluice.io.clientThreads", "1")));

  private final BlockServerClient client;
  private final RdmaEndpoint endpoint;
  private final PeerAddress address;
  private final StartedParts parts = new StartedParts();

  /**
   * @param poolBytes size of the buffer pool to which it READs
   * @param files its map outputs, all of which it stages
   * @param directories directories of these map outputs
   */
  NetworkParts(String executorId, long poolBytes, MapOutputFiles files, List<Path> directories)
      throws IOException {
    TransferOptions options =
        TransferOptions.DEFAULT.with(
            o -> {
              o.bufferPoolBytes = poolBytes;
              o.connectTimeoutMs = CONNECT_TIMEOUT_MS;
            });
    ProcessName self = new ProcessName("benchmark", executorId);
    ScheduledExecutorService timer = DaemonThreads.timer();
    parts.started(timer::shutdownNow);
    ExecutorService blocking = DaemonThreads.blocking();
    parts.started(blocking::shutdown);
    client =
        parts.started(
            new BlockServerClient(
                self,
                TRANSPORT,
                List.of(),
                options,
                CONNECT_TIMEOUT_MS,
                NetworkParts::clockMs,
                blocking));
    endpoint =
        parts.started(
            RdmaEndpoint.open(
                new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress()),
                options,
                client));
    MapOutputRegistry registry =
        parts.started(
            new MapOutputRegistry(
                endpoint.protectionDomain(),
                LocalDirectories.unregistered(directories),
                files,
                LIMITS,
                MapOutputListener.NONE,
                NetworkParts::clockMs));
    Stager stager =
        parts.started(
            new Stager(
                endpoint.protectionDomain(), registry, STAGING_BYTES, 2, System::nanoTime, timer));
    BlockServer server =
        parts.started(
            new BlockServer(
                new BlockServer.Binding(TRANSPORT, "localhost", 0, List.of()),
                self,
                SoftProvider.NAME,
                endpoint,
                registry,
                stager));
    address = new PeerAddress(executorId, "localhost", server.port());
  }

  private static long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  PeerAddress address() {
    return address;
  }

  RdmaEndpoint endpoint() {
    return endpoint;
  }

  BlockServerClient client() {
    return client;
  }

  /** Waits until a server knows these map outputs. */
  void awaitMapOutputs(PeerAddress server, long[] mapIds) throws IOException {
    List<MapOutputLocation> located = client.resolve(server, StageLoad.SHUFFLE, mapIds).join();
    if (located.contains(null)) {
      throw new IOException(server + " does not know all map outputs: " + located);
    }
  }

  @Override
  public void close() {
    parts.close();
  }
}
