// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.node.NodeLevels.SimulatedApplications;
import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.sasl.ShuffleSecretManager;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.ExternalBlockStoreClient;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * An executor at a node daemon, without Spark. It hands map outputs over, and reads those of its
 * application by READ, staged and by Spark's transport. {@link SimulatedApplications} uses and
 * closes it on one thread; each request blocks for at most {@link #TIMEOUT}.
 */
final class BareExecutor implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final TransportConf TRANSPORT =
      new TransportConf("sluice", MapConfigProvider.EMPTY);

  private final String id;
  private final StartedParts parts = new StartedParts();
  private final NodeClient node;
  private final BlockServerClient client;
  private final RdmaEndpoint endpoint;
  private final ExternalBlockStoreClient spark;

  /**
   * Registers the executor with the node daemon.
   *
   * @param socket socket of the node daemon
   * @param application Spark's application id, used to authenticate
   * @param run name of the application's run: its id, a hyphen and a number
   */
  BareExecutor(Path socket, String application, String run, String id) throws IOException {
    this.id = id;
    ProcessName self = new ProcessName(run, id);
    String secret = "of " + application;
    ShuffleSecretManager secrets = new ShuffleSecretManager();
    secrets.registerApp(application, secret);
    node =
        parts.started(
            NodeClient.enter(socket, self, secret, new NodeClient.Limits(TIMEOUT, TIMEOUT)));
    client =
        new BlockServerClient(
            self,
            TRANSPORT,
            List.of(new AuthClientBootstrap(TRANSPORT, application, secrets)),
            TransferOptions.DEFAULT,
            TIMEOUT.toMillis(),
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
    parts.started(client);
    endpoint =
        parts.started(
            RdmaEndpoint.open(
                Providers.open(
                    node.endpoint().provider(),
                    InetAddress.getByName(peer().host()),
                    VerbsOptions.DEFAULT,
                    SoftOptions.DEFAULT),
                TransferOptions.DEFAULT,
                client));
    spark = new ExternalBlockStoreClient(TRANSPORT, secrets, true, TIMEOUT.toMillis());
    spark.init(application);
    parts.started(spark);
  }

  private PeerAddress peer() {
    return node.endpoint().peer();
  }

  void handOver(int shuffleId, long mapId, SampleOutputs outputs) throws IOException {
    node.handOver(shuffleId, mapId, outputs.find(shuffleId, mapId));
  }

  /** Sends a message of the application's driver. */
  NodeResponse tell(Lifetime message) throws IOException, InterruptedException {
    return await(client.tell(peer(), message));
  }

  /**
   * Reads a map output by READ of its registered file, by READ of a staged copy, and by Spark's
   * transport.
   *
   * @throws IOException also if the bytes differ from those that were written
   */
  void read(int shuffleId, long mapId, SampleOutputs outputs)
      throws IOException, InterruptedException {
    byte[] written = Files.readAllBytes(outputs.find(shuffleId, mapId).data());
    check(written, readRegistered(shuffleId, mapId), "registered");
    check(written, readStaged(shuffleId, mapId, written.length), "staged");
    check(written, fetch(shuffleId, mapId, outputs.partitions()), "fetched");
  }

  private static void check(byte[] written, byte[] read, String how) throws IOException {
    if (!Arrays.equals(written, read)) {
      throw new IOException("a map output that was " + how + " differs from what was written");
    }
  }

  private byte[] readRegistered(int shuffleId, long mapId)
      throws IOException, InterruptedException {
    MapOutputLocation location =
        await(client.resolve(peer(), shuffleId, new long[] {mapId})).getFirst();
    if (location == null || !location.segment().isRegistered()) {
      throw new IOException(
          "map output %d of shuffle %d is not registered: %s"
              .formatted(mapId, shuffleId, location));
    }
    byte[] header = read(location.segment().headers(location.slot(), location.slot() + 1));
    long[] longs = new long[MapOutputHeader.LONGS];
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(longs);
    return read(requireNonNull(MapOutputHeader.of(mapId, longs, 0)).data());
  }

  private byte[] readStaged(int shuffleId, long mapId, int bytes)
      throws IOException, InterruptedException {
    List<Piece> all = List.of(new Piece(mapId, 0, bytes));
    Stage stage = new Stage(shuffleId, (int) TIMEOUT.toMillis(), all);
    if (!(await(client.stage(peer(), stage)) instanceof Staged staged)) {
      throw new IOException(
          "the node daemon did not stage map output %d of shuffle %d".formatted(mapId, shuffleId));
    }
    byte[] read = read(staged.region());
    client.done(peer(), staged.leaseId());
    return read;
  }

  private byte[] read(RemoteRegion region) throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    PooledBuffer buffer = await(endpoint.buffers().acquire((int) region.length(), deadlineNanos));
    try {
      await(endpoint.read(peer(), region, buffer, deadlineNanos));
      return buffer.segment().toArray(ValueLayout.JAVA_BYTE);
    } finally {
      buffer.release();
    }
  }

  private byte[] fetch(int shuffleId, long mapId, int partitions)
      throws IOException, InterruptedException {
    CompletableFuture<byte[]> fetched = new CompletableFuture<>();
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String block, ManagedBuffer data) {
            try {
              byte[] bytes = new byte[(int) data.size()];
              data.nioByteBuffer().get(bytes);
              fetched.complete(bytes);
            } catch (IOException e) {
              fetched.completeExceptionally(e);
            }
          }

          @Override
          public void onBlockFetchFailure(String block, Throwable failure) {
            fetched.completeExceptionally(failure);
          }
        };
    String[] all = {"shuffle_%d_%d_0_%d".formatted(shuffleId, mapId, partitions)};
    spark.fetchBlocks(peer().host(), peer().port(), id, all, listener, null);
    return await(fetched);
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
    try {
      return future.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("a request to the node daemon failed", e);
    }
  }

  @Override
  public void close() {
    parts.close();
  }
}
