// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputListener;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.metrics.ApplicationTotals;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Parts of the driver and of an executor that stays, wired as in an application. Other executors
 * arrive, write a shuffle, are READ from and leave. Those others share one process. One thread uses
 * it and closes it.
 */
final class LongApplication implements AutoCloseable {
  private static final String APPLICATION = "long";

  /** Name of the process of the other executors. */
  private static final String OTHERS = "others";

  private static final long MAP = 1;
  private static final int PARTITION_BYTES = 1000;
  private static final int COUNTERS = 60;
  private static final int TIMEOUT_MS = 30_000;
  private static final TransportConf TRANSPORT =
      new TransportConf(
          "sluice",
          new MapConfigProvider(
              Map.of("spark.sluice.io.serverThreads", "1", "spark.sluice.io.clientThreads", "1")));
  private static final TransferOptions OPTIONS =
      TransferOptions.DEFAULT.with(
          o -> {
            o.bufferPoolBytes = 1 << 20;
            o.maxQueuePairs = 64;
            o.sendQueueDepth = 16;
            o.maxReadBytes = 1 << 16;
            o.connectTimeoutMs = TIMEOUT_MS;
            o.spinMicros = 0;
          });

  private final Path directory;
  private int lastForgotten = -1;
  private long nowNanos;

  // Parts of the driver.
  private final ApplicationTotals totals = new ApplicationTotals();
  private final LocationDirectory locations =
      new LocationDirectory(
          new FakeBroadcasts().shipping(),
          1 << 20,
          id -> id > lastForgotten,
          report -> totals.accept((Report) report));

  // Parts of the executor that stays.
  private final BlockServerClient client;
  private final RdmaEndpoint endpoint;
  private final LocatorClient locator;

  // Parts of the executors that come and go.
  private final RdmaEndpoint otherEndpoint;
  private final MapOutputRegistry otherOutputs;
  private final BlockServer otherServer;
  private final ScheduledExecutorService timer = DaemonThreads.timer();

  LongApplication(Path directory) throws IOException {
    this.directory = directory;
    Files.write(directory.resolve("data"), new byte[PARTITION_BYTES]);
    Files.write(
        directory.resolve("index"),
        ByteBuffer.allocate(16).putLong(0).putLong(PARTITION_BYTES).array());
    client =
        new BlockServerClient(
            new ProcessName(APPLICATION, "stays"),
            TRANSPORT,
            List.of(),
            OPTIONS,
            TIMEOUT_MS,
            this::clockMs,
            Thread::startVirtualThread);
    endpoint = endpoint(new Connector());
    locator =
        new LocatorClient(
            new LocatorClient.Services(
                SoftProvider.NAME,
                new LocatorClient.Driver(
                    this::ask,
                    new FakeBroadcasts(),
                    Runnable::run,
                    Runnable::run,
                    () -> CompletableFuture.completedFuture(null)),
                client::resolve,
                TIMEOUT_MS,
                this::peerLost,
                () -> nowNanos));
    otherEndpoint = endpoint((_, _, _) -> CompletableFuture.failedFuture(new IOException()));
    otherOutputs =
        new MapOutputRegistry(
            otherEndpoint.protectionDomain(),
            LocalDirectories.probe(
                otherEndpoint.protectionDomain(), RegistrationMode.AUTO, List.of(directory)),
            this::find,
            new RegistryLimits(1 << 20, 1000, 0),
            MapOutputListener.NONE,
            this::clockMs);
    otherServer =
        new BlockServer(
            new BlockServer.Binding(TRANSPORT, "localhost", 0, List.of()),
            new ProcessName(APPLICATION, OTHERS),
            SoftProvider.NAME,
            otherEndpoint,
            otherOutputs,
            new Stager(
                otherEndpoint.protectionDomain(),
                otherOutputs,
                4 << 20,
                2,
                System::nanoTime,
                timer));
  }

  /** Connects to any of the other executors by its name. */
  private final class Connector implements QueuePairConnector {
    @Override
    public CompletableFuture<QueuePairAddress> exchange(
        PeerAddress peer, String provider, QueuePairAddress local) {
      return client.exchange(others(peer), provider, local);
    }

    @Override
    public void released(PeerAddress peer, int localQpNumber) {
      client.released(others(peer), localQpNumber);
    }

    private static PeerAddress others(PeerAddress peer) {
      return new PeerAddress(OTHERS, peer.host(), peer.port());
    }
  }

  private static RdmaEndpoint endpoint(QueuePairConnector connector) throws IOException {
    SoftProvider provider = new SoftProvider(SoftOptions.DEFAULT);
    return RdmaEndpoint.open(provider.open(InetAddress.getLoopbackAddress()), OPTIONS, connector);
  }

  private long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(nowNanos);
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) {
    return mapId == MAP
        ? new MapOutputFiles.Files(
            directory.resolve("data"), directory.resolve("index"), null, ChecksumAlgorithm.NONE)
        : null;
  }

  private void peerLost(PeerAddress peer) {
    endpoint.peerLost(peer.id());
    client.peerLost(peer);
  }

  private DirectoryMessage ask(DirectoryMessage message) throws IOException {
    byte[] answer = locations.handle(DirectoryMessage.decode(message.encode())).join().encode();
    return DirectoryMessage.decode(answer);
  }

  /**
   * Runs the life of an executor with the given id. It arrives and writes the shuffle with the same
   * id, which is READ and unregistered. Then it leaves, and its late messages arrive.
   */
  void executorAndShuffle(int id) throws Exception {
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    PeerAddress peer = new PeerAddress("" + id, "localhost", otherServer.port());
    MapOutputLocation output =
        otherOutputs
            .resolve(id, new long[] {MAP})
            .get(TIMEOUT_MS, TimeUnit.MILLISECONDS)
            .getFirst();
    Publish publish =
        new Publish(
            new ExecutorEndpoint(peer, SoftProvider.NAME), List.of(new Published(id, output)));
    ask(publish);
    ask(report(peer, 1));

    Located located =
        locator
            .locate(id, peer.id(), new long[] {MAP, MAP + 1})
            .get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    assertThat(located.outputs()).containsExactly(output, null);
    client.touch(peer, id);
    read(peer, output);

    otherEndpoint.peerLost("stays");
    otherOutputs.unregister(id);
    locations.executorLost(peer.id());
    totals.executorLost(peer.id());
    locations.unregister(id);
    lastForgotten = id;
    locator.forget(id);
    ask(report(peer, 2));
    ask(publish);
    ask(
        new Publish(
            new ExecutorEndpoint(new PeerAddress("stays", "localhost", 1), SoftProvider.NAME),
            publish.outputs()));
    locator.prepare(id);
  }

  private static Report report(PeerAddress peer, long sequence) {
    Map<String, Long> counters = new HashMap<>();
    for (int i = 0; i < COUNTERS; i++) {
      counters.put("counter-" + i, sequence);
    }
    return new Report(peer.id(), sequence, "soft soft0", counters);
  }

  private void read(PeerAddress peer, MapOutputLocation output) throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    RemoteRegion range = output.segment().region();
    PooledBuffer target =
        endpoint
            .buffers()
            .acquire((int) range.length(), deadlineNanos)
            .get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    CompletableFuture<Void> answer = endpoint.read(peer, range, target, deadlineNanos);
    target.release();
    answer.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
  }

  /** Returns the sums of all executors' counters. */
  Map<String, Long> totals() {
    return totals.totals();
  }

  @Override
  public void close() {
    otherServer.close();
    otherOutputs.close();
    otherEndpoint.close();
    endpoint.close();
    client.close();
    timer.shutdownNow();
  }
}
