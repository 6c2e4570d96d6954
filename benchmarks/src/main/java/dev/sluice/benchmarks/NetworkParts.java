package dev.sluice.benchmarks;

import dev.sluice.blocks.BlockServer;
import dev.sluice.blocks.BlockServerClient;
import dev.sluice.blocks.EndpointAcceptor;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.Stager;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * What an executor has for its peers, without a Spark around it: an endpoint on a software device,
 * the block server that gives out its queue pairs and stages, the client that asks others for
 * theirs, and some memory that they may READ. Closed by whoever makes it.
 */
public final class NetworkParts implements AutoCloseable {
  /** What peers may READ. */
  public static final long MEMORY_BYTES = 1 << 20;

  private static final int CONNECT_TIMEOUT_MS = 30_000;
  private static final RegistryLimits LIMITS = new RegistryLimits(0, 10_000, 60_000);

  /** By default, with Spark's own default of memory. */
  private static final long STAGING_BYTES = 24 << 20;

  private static final SoftOptions DEVICE = SoftOptions.DEFAULT;

  /** A small pool: 64 executors share this process. */
  private static final long POOL_BYTES = 16 << 20;

  /** One thread each way: the transport's pools are Spark's to choose, and do not grow with us. */
  public static final TransportConf TRANSPORT =
      new TransportConf(
          "sluice",
          new MapConfigProvider(
              Map.of(
                  "spark.sluice.io.serverThreads", "1",
                  "spark.sluice.io.clientThreads", "1")));

  private final Arena arena = Arena.ofShared();
  private final BlockServerClient client;
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final Stager stager;
  private final BlockServer server;
  private final PeerAddress address;
  private final MemorySegment bytes;
  private final RemoteRegion memory;

  /** Without map outputs. */
  public NetworkParts(String executorId) throws IOException {
    this(executorId, POOL_BYTES, MEMORY_BYTES);
  }

  /**
   * The same.
   *
   * @param memoryBytes that peers may READ
   */
  public NetworkParts(String executorId, long poolBytes, long memoryBytes) throws IOException {
    this(executorId, poolBytes, memoryBytes, (_, _) -> null, List.of());
  }

  /**
   * @param poolBytes of buffers that it READs to
   * @param files its map outputs, all of which it stages
   * @param directories that these lie in
   */
  public NetworkParts(
      String executorId, long poolBytes, MapOutputFiles files, List<Path> directories)
      throws IOException {
    this(executorId, poolBytes, MEMORY_BYTES, files, directories);
  }

  private NetworkParts(
      String executorId,
      long poolBytes,
      long memoryBytes,
      MapOutputFiles files,
      List<Path> directories)
      throws IOException {
    TransferOptions options =
        TransferOptions.DEFAULT.with(
            o -> {
              o.bufferPoolBytes = poolBytes;
              o.connectTimeoutMs = CONNECT_TIMEOUT_MS;
            });
    ProcessName self = new ProcessName("benchmark", executorId);
    client =
        new BlockServerClient(
            self, TRANSPORT, List.of(), options, CONNECT_TIMEOUT_MS, NetworkParts::clockMs);
    endpoint =
        RdmaEndpoint.open(
            new SoftProvider(DEVICE).open(InetAddress.getLoopbackAddress()), options, client);
    registry =
        new MapOutputRegistry(
            endpoint.protectionDomain(),
            LocalDirectories.unregistered(directories),
            files,
            LIMITS,
            MapOutputListener.NONE,
            NetworkParts::clockMs);
    stager = new Stager(endpoint.protectionDomain(), registry, STAGING_BYTES, 2, System::nanoTime);
    server =
        new BlockServer(
            new BlockServer.Binding(TRANSPORT, "localhost", 0, List.of()),
            self,
            SoftProvider.NAME,
            new EndpointAcceptor(endpoint),
            registry,
            stager);
    address = new PeerAddress(executorId, "localhost", server.port());
    bytes = arena.allocate(memoryBytes, 4096);
    memory = endpoint.protectionDomain().register(bytes, Set.of(AccessFlag.REMOTE_READ)).toRemote();
  }

  private static long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  public PeerAddress address() {
    return address;
  }

  /** What {@link #memory} is to its owner. */
  public MemorySegment bytes() {
    return bytes;
  }

  public RemoteRegion memory() {
    return memory;
  }

  public RdmaEndpoint endpoint() {
    return endpoint;
  }

  public BlockServerClient client() {
    return client;
  }

  @Override
  public void close() {
    server.close();
    stager.close();
    registry.close();
    endpoint.close();
    client.close();
    arena.close();
  }
}
