// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.staging.TestTimer;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Block server on this machine, with room for one small map output in a directory. The test that
 * opens it closes it.
 */
public final class TestBlockServer implements AutoCloseable {
  private static final RegistryLimits LIMITS = new RegistryLimits(20_480, 100, 1_000);

  public static final ProcessName SELF = new ProcessName("app", "server");
  public static final ProcessName CLIENT = new ProcessName("app", "client");

  public final FakeProtectionDomain domain = new FakeProtectionDomain();
  public final FakeAcceptor acceptor = new FakeAcceptor();
  public final AtomicLong nowMs = new AtomicLong();
  public final TestMapOutputs outputs;

  /** Lookups of map outputs wait for this latch. */
  public volatile CountDownLatch filesReady = new CountDownLatch(0);

  private final TransportConf conf;
  private final List<TransportServerBootstrap> bootstraps;
  public final MapOutputRegistry registry;
  private final Stager stager;
  private BlockServer server;

  public TestBlockServer(
      Path directory, TransportConf conf, TransportServerBootstrap... bootstraps) {
    this.conf = conf;
    this.bootstraps = List.of(bootstraps);
    outputs = new TestMapOutputs(directory);
    registry =
        new MapOutputRegistry(
            domain, outputs.directories(), this::find, LIMITS, new RecordingListener(), nowMs::get);
    stager =
        new Stager(domain, registry, 4 << 20, 2, () -> nowMs.get() * 1_000_000, TestTimer.TIMER);
    start(0);
  }

  /** Configuration with one thread for each side, and more settings. */
  public static TransportConf conf(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.put("spark.sluice.io.serverThreads", "1");
    all.put("spark.sluice.io.clientThreads", "1");
    return new TransportConf("sluice", new MapConfigProvider(all));
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) {
    TestMapOutputs.await(filesReady);
    return outputs.find(shuffleId, mapId);
  }

  public void start(int port) {
    server =
        new BlockServer(
            new BlockServer.Binding(conf, "localhost", port, bootstraps),
            SELF,
            "soft",
            acceptor,
            registry,
            stager);
  }

  public void stop() {
    server.close();
  }

  public int port() {
    return server.port();
  }

  public PeerAddress peer() {
    return new PeerAddress(SELF.id(), "localhost", port());
  }

  @Override
  public void close() {
    filesReady.countDown();
    stop();
    stager.close();
    registry.close();
  }
}
