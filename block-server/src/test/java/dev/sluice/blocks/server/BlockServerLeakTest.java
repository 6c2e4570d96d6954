// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.staging.TestTimer;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A closed server, client or stager leaves no file descriptor, thread or mapping behind. */
class BlockServerLeakTest {
  private static final TransportConf CONF =
      new TransportConf(
          "leaktest",
          new MapConfigProvider(
              Map.of(
                  "spark.leaktest.io.serverThreads", "1",
                  "spark.leaktest.io.clientThreads", "1")));

  /** Has threads for chunks, which Spark's transport starts only for this module. */
  private static final TransportConf SHUFFLE =
      new TransportConf(
          "shuffle",
          new MapConfigProvider(
              Map.of(
                  "spark.shuffle.io.serverThreads", "1",
                  "spark.shuffle.server.chunkFetchHandlerThreadsPercent", "100")));

  @TempDir Path directory;

  @Test
  void closingLeavesNothingOpen() throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    for (long mapId = 0; mapId < 20; mapId++) {
      outputs.write(1, mapId, 1000);
    }
    useAndClose(outputs);
    awaitNoThreads();
    long before = openFiles();
    for (int i = 0; i < 3; i++) {
      useAndClose(outputs);
    }
    awaitNoThreads();

    assertThat(openFiles()).isLessThanOrEqualTo(before);
    assertThat(outputs.mappings()).isZero();
  }

  /** If a port is taken, up to sixteen next ones are tried. */
  @Test
  void aPortThatIsTakenLeavesNothingOpen() throws Exception {
    awaitNoThreads();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      long before = openFiles();
      try (MapOutputRegistry registry = registry(new TestMapOutputs(directory))) {
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> listen(taken.getLocalPort(), registry))
              .hasStackTraceContaining("bind");
        }
      }
      awaitNoThreads();
      assertThat(openFiles()).isLessThanOrEqualTo(before);
    }
  }

  private static BlockServer listen(int port, MapOutputRegistry registry) {
    return new BlockServer(
        new BlockServer.Binding(SHUFFLE, "localhost", port, List.of()),
        TestBlockServer.SELF,
        "soft",
        new FakeAcceptor(),
        registry,
        null);
  }

  private static MapOutputRegistry registry(TestMapOutputs outputs) {
    return new MapOutputRegistry(
        new FakeProtectionDomain(),
        outputs.directories(),
        outputs::find,
        new RegistryLimits(1 << 20, 100, 1_000),
        new RecordingListener(),
        () -> 0);
  }

  private static void useAndClose(TestMapOutputs outputs) throws Exception {
    FakeProtectionDomain domain = new FakeProtectionDomain();
    RegistryLimits limits = new RegistryLimits(1 << 20, 100, 1_000);
    try (MapOutputRegistry registry =
            new MapOutputRegistry(
                domain,
                outputs.directories(),
                outputs::find,
                limits,
                new RecordingListener(),
                () -> 0);
        Stager stager =
            new Stager(domain, registry, 4 << 20, 2, System::nanoTime, TestTimer.TIMER);
        BlockServer server =
            new BlockServer(
                new BlockServer.Binding(CONF, "localhost", 0, List.of()),
                TestBlockServer.SELF,
                "soft",
                new FakeAcceptor(),
                registry,
                stager);
        BlockServerClient client =
            new BlockServerClient(
                TestBlockServer.CLIENT,
                CONF,
                List.of(),
                TransferOptions.DEFAULT,
                10_000,
                () -> 0,
                Thread::startVirtualThread)) {
      PeerAddress peer = new PeerAddress("server", "localhost", server.port());
      long[] mapIds = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
      assertThat(client.resolve(peer, 1, mapIds).get(20, TimeUnit.SECONDS)).doesNotContainNull();
      assertThat(outputs.mappings()).isEqualTo(10);
    }
    assertThat(domain.openRegions()).isZero();
  }

  private static long openFiles() throws IOException {
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  /** The transport's threads end a few seconds after it is closed. */
  private static void awaitNoThreads() throws InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (Thread.getAllStackTraces().keySet().stream()
        .anyMatch(
            thread ->
                thread.getName().startsWith("leaktest-")
                    || thread.getName().startsWith("shuffle-")
                    || thread.getName().equals("sluice-register"))) {
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(10);
    }
  }
}
