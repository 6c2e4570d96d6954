// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.registry.ResolvedOutput;
import dev.sluice.blocks.server.FakeAcceptor;
import dev.sluice.blocks.server.TestBlockServer;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Leases belong to peers, whatever happens to their connections. */
@Timeout(60)
class LeaseConnectionTest {
  private static final int SHUFFLE = 3;
  private static final int TIMEOUT_MS = 10_000;
  private static final int BYTES = 50_000;
  private static final TransportConf CONF = TestBlockServer.conf(Map.of());

  @TempDir Path directory;
  private final AtomicLong clientMs = new AtomicLong();
  private TestBlockServer server;
  private BlockServerClient client;
  private PeerAddress peer;
  private byte[] data;

  @BeforeEach
  void open() throws Exception {
    server = new TestBlockServer(directory, CONF);
    peer = server.peer();
    client = client(TestBlockServer.CLIENT);
    data = server.outputs.write(SHUFFLE, 1, BYTES);
    assertThat(ResolvedOutput.header(server.registry, SHUFFLE, 1).isStaged()).isTrue();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private BlockServerClient client(ProcessName self) {
    return new BlockServerClient(
        self,
        CONF,
        List.of(),
        TransferOptions.DEFAULT,
        TIMEOUT_MS,
        clientMs::get,
        Thread::startVirtualThread);
  }

  private static Object stage(BlockServerClient asking, PeerAddress asked, int bytes)
      throws Exception {
    Stage stage = new Stage(SHUFFLE, TIMEOUT_MS, List.of(new Partitions(1, 0, 1)), 0, bytes);
    return asking.stage(asked, stage).get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
  }

  private Staged staged() throws Exception {
    Staged lease = (Staged) stage(client, peer, BYTES);
    assertThat(bytesInUse()).isEqualTo(BYTES);
    return lease;
  }

  private long bytesInUse() {
    return server.registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE);
  }

  private void awaitNothingInUse(Runnable meanwhile) throws InterruptedException {
    for (int i = 0; i < TIMEOUT_MS && bytesInUse() > 0; i++) {
      meanwhile.run();
      Thread.sleep(1);
    }
    assertThat(bytesInUse()).isZero();
  }

  /** Ends all connections, and waits until the server knows; queue pairs stay. */
  private void disconnect() throws Exception {
    client.exchange(peer, "soft", FakeAcceptor.queuePair(7)).get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    server.stop();
    for (int i = 0; i < TIMEOUT_MS && !server.acceptor.events.contains("left client"); i++) {
      Thread.sleep(1);
    }
    assertThat(server.acceptor.events).containsExactly("accepted client 7", "left client");
    server.start(peer.port());
  }

  private void say(BlockServerClient from, PeerAddress to, Staged lease) throws Exception {
    stage(from, to, 0); // Connects if needed, and is refused.
    from.done(to, lease.leaseId());
    stage(from, to, 0); // Ensures that earlier messages have arrived.
  }

  @Test
  void aConnectionThatEndsFreesNothing() throws Exception {
    Staged lease = staged();
    disconnect();
    try (BlockServerClient other = client(new ProcessName("app", "other"))) {
      for (int i = 1; i <= 10; i++) {
        Staged next = (Staged) stage(other, peer, i);
        assertThat(bytesInUse()).isEqualTo(BYTES + i);
        say(other, peer, next);
      }
    }
    assertThat(server.domain.read(lease.region())).isEqualTo(data);
    assertThat(bytesInUse()).isEqualTo(BYTES);

    server.nowMs.addAndGet(TimeUnit.NANOSECONDS.toMillis(lease.leaseNanos()));
    awaitNothingInUse(() -> {});
  }

  @Test
  void aLeaseIsGivenBackOverAnyConnectionOfItsPeer() throws Exception {
    Staged lease = staged();
    try (BlockServerClient again = client(TestBlockServer.CLIENT)) {
      say(again, peer, lease);
    }
    assertThat(bytesInUse()).isZero();
  }

  @Test
  void givingALeaseBackReconnects() throws Exception {
    Staged lease = staged();
    disconnect();
    awaitNothingInUse(
        () -> {
          clientMs.addAndGet(PeerChannel.RECONNECT_INTERVAL_MS);
          client.done(peer, lease.leaseId());
        });
  }

  @Test
  void onlyTheLeasesOwnerGivesItBack() throws Exception {
    Staged lease = staged();
    for (ProcessName stranger :
        Arrays.asList(new ProcessName("app", "other"), new ProcessName("other", "client"))) {
      try (BlockServerClient other = client(stranger)) {
        say(other, peer, lease);
      }
      assertThat(bytesInUse()).as(stranger.toString()).isEqualTo(BYTES);
    }
    say(client, peer, lease);
    assertThat(bytesInUse()).isZero();
  }

  /** Message to a process that listened here before. */
  @Test
  void messagesForAnotherProcessFreeNoLease() throws Exception {
    Staged lease = staged();
    say(client, new PeerAddress("gone", "localhost", peer.port()), lease);
    assertThat(bytesInUse()).isEqualTo(BYTES);
  }
}
