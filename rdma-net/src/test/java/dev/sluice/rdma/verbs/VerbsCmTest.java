// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.RemotePeer;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests queue pairs that rdma_cm connects, beyond the contract of all providers. */
@NeedsRdmaDevice
class VerbsCmTest {
  private static final long TIMEOUT_MS = 30_000;

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private TestNode client;
  private TestNode server;

  @BeforeEach
  void open() throws IOException {
    client = node(ConnectMode.CM);
    server = node(ConnectMode.CM);
  }

  private TestNode node(ConnectMode mode) throws IOException {
    VerbsOptions options =
        VerbsOptions.DEFAULT.with(
            o -> {
              o.connect = mode;
              o.leaks = leaks.tracker();
            });
    return new TestNode(new VerbsProvider(options).open(RdmaDevices.address().orElseThrow()));
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  @Test
  void aRequestWithAnotherTokenIsRefusedAndDoesNoHarm() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    byte[] data = answering.address().providerData().clone();
    data[1] ^= 1;
    assertRefused(asking.rendezvous(with(answering.address(), data), TIMEOUT_MS));
    connect(asking, answering.address());
    assertReads(asking);
  }

  @Test
  void aTokenIsGoodForOneConnection() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    QueuePairAddress address = answering.address();
    connect(asking, address);
    assertRefused(inInit(client).rendezvous(address, TIMEOUT_MS));
    assertReads(asking);
  }

  @Test
  void aTokenIsGoodForTheQueuePairThatItWasGivenToOnly() throws Exception {
    QueuePair answering = expecting(inInit(client));
    assertRefused(inInit(client).rendezvous(answering.address(), TIMEOUT_MS));
  }

  @Test
  void aQueuePairThatExpectsNoPeerRefuses() throws Exception {
    QueuePair answering = inInit(server);
    assertRefused(inInit(client).rendezvous(answering.address(), TIMEOUT_MS));
  }

  @Test
  void aClosedQueuePairRefuses() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    QueuePairAddress address = answering.address();
    answering.close();
    assertRefused(asking.rendezvous(address, TIMEOUT_MS));
  }

  @Test
  void thePeersEndIsNoticedWithoutARequest() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    connect(asking, answering.address());
    answering.close();
    awaitError(asking);
  }

  @Test
  void theAcceptingSideNoticesTheEndAsWell() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    connect(asking, answering.address());
    assertReads(asking);
    asking.close();
    awaitError(answering);
  }

  @Test
  void thePeersDeviceMayCloseFirst() throws Exception {
    QueuePair asking = inInit(client);
    connect(asking, expecting(asking).address());
    server.device.close();
    awaitError(asking);
  }

  @Test
  void theEndOfThePeersProcessIsNoticedWithoutARequest() throws Exception {
    try (RemotePeer peer =
        RemotePeer.start(
            VerbsProvider.NAME, RdmaDevices.address().orElseThrow(), 4096, ConnectMode.CM)) {
      QueuePair asking = inInit(client);
      connect(asking, peer.connect(asking.address()));
      peer.kill();
      awaitError(asking);
    }
  }

  /**
   * Covers reason 10, stale connection (InfiniBand Architecture Specification, volume 1, 12.6.7.2).
   */
  @Test
  void aQueuePairMayConnectAgainBeforeItsPeerHasNoticedTheEnd() throws Exception {
    QueuePair asking = inInit(client);
    QueuePair answering = expecting(asking);
    connect(asking, answering.address());
    CompletableFuture<QueuePairAddress> met;
    QueuePair next;
    synchronized (answering) { // the server's thread needs this lock to notice the end
      asking.toReset();
      asking.toInit(Set.of(AccessFlag.REMOTE_READ));
      next = expecting(asking);
      met = asking.rendezvous(next.address(), TIMEOUT_MS);
      assertThatThrownBy(() -> met.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
    }
    asking.toRtr(met.get(TIMEOUT_MS, TimeUnit.MILLISECONDS), ConnectionAttributes.DEFAULT);
    asking.toRts();
    assertReads(asking);
  }

  @Test
  void aPeerThatDoesNotAnswerIsGivenUpInTime() throws Exception {
    try (RdmaEventChannel silent = RdmaEventChannel.create()) {
      QueuePair asking = inInit(client);
      CompletableFuture<QueuePairAddress> met = asking.rendezvous(addressOf(silent), 200);
      assertThatThrownBy(() -> met.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasRootCauseInstanceOf(VerbsException.class)
          .hasMessageContaining("not connected in time");
      assertThat(asking.state()).isEqualTo(QueuePairState.INIT);
    }
  }

  @Test
  void closingCallsAnAttemptOff() throws Exception {
    try (RdmaEventChannel silent = RdmaEventChannel.create()) {
      QueuePair asking = inInit(client);
      CompletableFuture<QueuePairAddress> met = asking.rendezvous(addressOf(silent), TIMEOUT_MS);
      asking.close();
      assertThatThrownBy(() -> met.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("closed meanwhile");
    }
  }

  @Test
  void closingTheDeviceCallsItsAttemptsOff() throws Exception {
    try (RdmaEventChannel silent = RdmaEventChannel.create()) {
      CompletableFuture<QueuePairAddress> met =
          inInit(client).rendezvous(addressOf(silent), TIMEOUT_MS);
      client.device.close();
      assertThat(met).isCompletedExceptionally();
    }
  }

  @Test
  void aPeerThatConnectsTheOtherWayIsToldSo() throws Exception {
    try (TestNode other = node(ConnectMode.CONTROL)) {
      QueuePair asking = inInit(other);
      QueuePair answering = inInit(server);
      assertThatThrownBy(() -> answering.toRtr(asking.address(), ConnectionAttributes.DEFAULT))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("does not use rdma_cm as this process does");
    }
  }

  private static QueuePair inInit(TestNode node) throws VerbsException {
    QueuePair queuePair = node.createQueuePair();
    queuePair.toInit(Set.of(AccessFlag.REMOTE_READ));
    return queuePair;
  }

  /** A queue pair of the server that waits for the other one to connect. */
  private QueuePair expecting(QueuePair asking) throws VerbsException {
    QueuePair answering = inInit(server);
    answering.toRtr(asking.address(), ConnectionAttributes.DEFAULT);
    return answering;
  }

  private static void connect(QueuePair asking, QueuePairAddress remote) throws VerbsException {
    asking.toRtr(TestNode.meet(asking, remote), ConnectionAttributes.DEFAULT);
    asking.toRts();
  }

  private void assertReads(QueuePair asking) throws VerbsException {
    MemoryRegion source = server.register(64, Set.of(AccessFlag.REMOTE_READ));
    MemoryRegion target = client.register(64, Set.of(AccessFlag.LOCAL_WRITE));
    ScatterGatherEntry local = new ScatterGatherEntry(target.address(), 64, target.lkey());
    asking.postSend(List.of(new SendWorkRequest(1, local, source.address(), source.rkey(), true)));
    assertThat(client.await(1).getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
  }

  private static void assertRefused(CompletableFuture<QueuePairAddress> met) {
    assertThatThrownBy(() -> met.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("the peer refused the request");
  }

  private static void awaitError(QueuePair queuePair) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    while (queuePair.state() != QueuePairState.ERROR) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.yield();
    }
  }

  /** Address of a peer that listens and never answers. */
  private static QueuePairAddress addressOf(RdmaEventChannel silent) throws VerbsException {
    RdmaCmId listening = silent.createId(RdmaCmId.PortSpace.TCP);
    listening.bind(new InetSocketAddress(RdmaDevices.address().orElseThrow(), 0));
    listening.listen(1);
    byte[] token = new byte[CmAddress.TOKEN_BYTES];
    return new QueuePairAddress(
        1,
        1,
        0,
        Gid.of(listening.localAddress().getAddress()),
        1024,
        16,
        new CmAddress(listening.localAddress(), token).toProviderData());
  }

  private static QueuePairAddress with(QueuePairAddress address, byte[] providerData) {
    return new QueuePairAddress(
        address.qpNumber(),
        address.psn(),
        address.lid(),
        address.gid(),
        address.mtu(),
        address.maxDestRdAtomic(),
        providerData);
  }
}
