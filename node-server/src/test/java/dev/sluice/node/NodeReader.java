// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** Executor of an application that READs from nodes, and its driver. The test closes it. */
final class NodeReader implements AutoCloseable {
  private static final long TIMEOUT_S = 20;

  private final BlockServerClient client;
  private final RdmaEndpoint endpoint;

  /**
   * @param application name of a job, or of this run; Spark's id is the part before the last hyphen
   * @param secret empty if it does not authenticate
   */
  NodeReader(String application, String secret) throws IOException {
    this(application, secret, Map.of());
  }

  /**
   * @param network Spark's configuration of its network
   */
  NodeReader(String application, String secret, Map<String, String> network) throws IOException {
    this(
        application,
        secret,
        new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress()),
        network);
  }

  /**
   * @param device device for its READs; closed with it
   */
  NodeReader(String application, String secret, Device device) throws IOException {
    this(application, secret, device, Map.of());
  }

  private NodeReader(String application, String secret, Device device, Map<String, String> network)
      throws IOException {
    TransportConf conf = new TransportConf("sluice", new MapConfigProvider(network));
    client =
        new BlockServerClient(
            new ProcessName(application, "reader"),
            conf,
            bootstraps(application, secret, conf),
            TransferOptions.DEFAULT,
            TimeUnit.SECONDS.toMillis(TIMEOUT_S) / 2,
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
            Thread::startVirtualThread);
    endpoint = RdmaEndpoint.open(device, TransferOptions.DEFAULT, client);
  }

  private static List<TransportClientBootstrap> bootstraps(
      String application, String secret, TransportConf conf) {
    String id =
        JobFile.isName(application)
            ? application
            : application.substring(0, application.lastIndexOf('-'));
    return secret.isEmpty()
        ? List.of()
        : List.of(new AuthClientBootstrap(conf, id, new ApplicationSecret(secret)));
  }

  /** Region of a map output's data; null if the node does not have it. */
  MapOutputHeader locate(PeerAddress node, int shuffleId, long mapId) throws Exception {
    MapOutputLocation location = resolve(node, shuffleId, mapId).get(TIMEOUT_S, TimeUnit.SECONDS);
    if (location == null) {
      return null;
    }
    byte[] header = read(node, location.segment().headers(location.slot(), location.slot() + 1));
    long[] longs = new long[MapOutputHeader.LONGS];
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(longs);
    return MapOutputHeader.of(mapId, longs, 0);
  }

  /** Null if the node does not have it. */
  CompletableFuture<MapOutputLocation> resolve(PeerAddress node, int shuffleId, long mapId) {
    return client.resolve(node, shuffleId, new long[] {mapId}).thenApply(List::getFirst);
  }

  /** Returns true if the node has registered the map output's table, false if it reads the file. */
  boolean isRegistered(PeerAddress node, int shuffleId, long mapId) throws Exception {
    return resolve(node, shuffleId, mapId)
        .get(TIMEOUT_S, TimeUnit.SECONDS)
        .segment()
        .isRegistered();
  }

  /** READs the first partitions of a map output that the node stages. */
  byte[] readStaged(PeerAddress node, int shuffleId, long mapId, int partitions, int maxBytes)
      throws Exception {
    Staged staged = stage(node, shuffleId, mapId, partitions, maxBytes);
    byte[] read = read(node, staged.region());
    client.done(node, staged.leaseId());
    return read;
  }

  /** Asks for the first partitions of a map output. */
  Staged stage(PeerAddress node, int shuffleId, long mapId, int partitions, int maxBytes)
      throws Exception {
    List<Partitions> block = List.of(new Partitions(mapId, 0, partitions));
    Stage wanted = new Stage(shuffleId, 10_000, block, 0, maxBytes);
    return (Staged) client.stage(node, wanted).get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** Asks at the port for all jobs. */
  Registered findJob(PeerAddress jobPort, String application) throws Exception {
    return client.findJob(jobPort, application).get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** READs all data of a map output. */
  byte[] read(PeerAddress node, int shuffleId, long mapId) throws Exception {
    return read(node, locate(node, shuffleId, mapId).data());
  }

  /** READs a region of any process. */
  byte[] read(PeerAddress node, RemoteRegion region) throws Exception {
    int bytes = (int) region.length();
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
    PooledBuffer buffer =
        endpoint.buffers().acquire(bytes, deadlineNanos).get(TIMEOUT_S, TimeUnit.SECONDS);
    try {
      endpoint.read(node, region, buffer, deadlineNanos).get(2 * TIMEOUT_S, TimeUnit.SECONDS);
      return buffer.segment().toArray(ValueLayout.JAVA_BYTE);
    } finally {
      buffer.release();
    }
  }

  /** Asks the node daemon for its version. */
  String version(PeerAddress node) throws Exception {
    return client.version(node).get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** Sends a message of the driver. */
  NodeResponse tell(PeerAddress node, Lifetime message) throws Exception {
    return say(node, message).get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** The same without waiting; handled after earlier messages. */
  CompletableFuture<NodeResponse> say(PeerAddress node, Lifetime message) {
    return client.tell(node, message);
  }

  /** Reports that the node's process is gone. */
  void lost(PeerAddress node) {
    endpoint.peerLost(node.id());
    client.peerLost(node);
  }

  @Override
  public void close() {
    endpoint.close();
    client.close();
  }
}
