// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.FrameHeader.FrameType;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the frames that a queue pair sends to its peer, and when. The test plays the peer by hand.
 */
class WireTest {
  private static final int MIB = 1 << 20;
  private static final int TIMEOUT_EXPONENT = 18;

  @RegisterExtension final LeakCheck leaks = new LeakCheck();
  private TestNode node;

  @BeforeEach
  void open() throws IOException {
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    node = new TestNode(new SoftProvider(options).open(InetAddress.getLoopbackAddress()));
  }

  @AfterEach
  void close() {
    node.close();
  }

  private static ConnectionAttributes allowing(int maxRdAtomic) {
    return ConnectionAttributes.DEFAULT.with(
        c -> {
          c.timeoutExponent = TIMEOUT_EXPONENT;
          c.maxRdAtomic = maxRdAtomic;
        });
  }

  @Test
  void regionIsClosedAtOnceBehindAPeerThatDoesNotReceive() throws Exception {
    // Exceeds the capacity of the sockets.
    try (Arena arena = Arena.ofShared();
        RawPeer peer =
            RawPeer.connectTo(node.createQueuePair(), 16, ConnectionAttributes.DEFAULT)) {
      MemoryRegion region = node.pd.register(arena.allocate(64L * MIB, 4096), TestNode.ALL);
      ByteBuffer request = ByteBuffer.allocate(FrameHeader.BYTES);
      RawPeer.putRead(request, region.toRemote());
      peer.send(request.flip());
      peer.receive(MIB);
      region.close();
    }
  }

  @Test
  void answerThatWaitsBehindAnotherIsRefusedWhenItsRegionIsClosed() throws Exception {
    MemoryRegion large = node.register(64L * MIB, TestNode.ALL);
    MemoryRegion small = node.register(64, TestNode.ALL);
    try (RawPeer peer =
        RawPeer.connectTo(node.createQueuePair(), 16, ConnectionAttributes.DEFAULT)) {
      ByteBuffer requests = ByteBuffer.allocate(2 * FrameHeader.BYTES);
      RawPeer.putRead(requests, large.toRemote());
      RawPeer.putRead(requests, small.toRemote());
      peer.send(requests.flip());
      FrameHeader header = peer.receiveHeader();
      small.close();
      peer.receive(header.length);
      for (long left = large.length() - header.length; left > 0; left -= header.length) {
        header = peer.receiveHeader();
        peer.receive(header.length);
      }
      FrameHeader refusal = peer.receiveHeader();
      assertThat(refusal.type).isEqualTo(FrameType.NAK);
      assertThat(WorkCompletionStatus.of(refusal.code))
          .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @CsvSource({"128, 128, 128", "16, 128, 16", "128, 16, 16", "1, 128, 1"})
  void asManyReadsAreOnTheWireAsBothSidesAllow(int initiator, int peers, int expected)
      throws Exception {
    SoftQueuePair queuePair = (SoftQueuePair) node.createQueuePair();
    MemoryRegion target = node.register(8, TestNode.ALL);
    SendWorkRequest read =
        new SendWorkRequest(
            1, new ScatterGatherEntry(target.address(), 8, target.lkey()), 0, 0, true);
    int count = TestNode.DEPTH;
    try (RawPeer peer = RawPeer.connectTo(queuePair, peers, allowing(initiator))) {
      queuePair.postSend(Collections.nCopies(count, read));
      ByteBuffer answer = ByteBuffer.allocate(FrameHeader.BYTES + 8);
      FrameHeader.encodeData(answer, 8);
      peer.receive(expected * FrameHeader.BYTES);
      peer.assertSilent();
      // Each answer lets exactly one more request go.
      for (int sent = expected; sent < count; sent++) {
        peer.send(answer.clear());
        peer.receive(FrameHeader.BYTES);
      }
      for (int i = 0; i < expected; i++) {
        peer.send(answer.clear());
      }
      node.await(count);
    }
  }

  /** Otherwise answers would pile up behind a peer that does not receive them. */
  @Test
  void peerThatAsksForMoreAtATimeThanItMayIsRefused() throws Exception {
    MemoryRegion region = node.register(MIB, TestNode.ALL);
    int asked = 1000;
    ByteBuffer requests = ByteBuffer.allocate(asked * FrameHeader.BYTES);
    while (requests.hasRemaining()) {
      RawPeer.putRead(requests, region.toRemote());
    }
    try (RawPeer peer =
        RawPeer.connectTo(node.createQueuePair(), 16, ConnectionAttributes.DEFAULT)) {
      peer.send(requests.flip());
      FrameHeader header = peer.receiveHeader();
      for (int i = 1; i < asked && header.type == FrameType.DATA; i++) {
        peer.receive(header.length);
        header = peer.receiveHeader();
      }
      assertThat(header.type).isEqualTo(FrameType.NAK);
      assertThat(WorkCompletionStatus.of(header.code))
          .isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
      peer.assertSilent();
    }
  }

  /**
   * A refusal cannot be a success without bytes, and a peer cannot declare this side's device
   * broken.
   */
  @ParameterizedTest
  @EnumSource(
      value = WorkCompletionStatus.class,
      names = {"SUCCESS", "WR_FLUSH_ERR", "FATAL_ERR", "GENERAL_ERR"})
  void refusalThatNoResponderGivesBreaksTheConnection(WorkCompletionStatus status)
      throws Exception {
    SoftQueuePair queuePair = (SoftQueuePair) node.createQueuePair();
    try (RawPeer peer = RawPeer.connectTo(queuePair, 16, allowing(16))) {
      postRead(queuePair);
      peer.receiveHeader();
      ByteBuffer refusal = ByteBuffer.allocate(FrameHeader.BYTES);
      FrameHeader.encodeNak(refusal, status.ordinal());
      peer.send(refusal.flip());
      assertThat(node.await(1).getFirst().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }
  }

  private void postRead(QueuePair queuePair) throws IOException {
    MemoryRegion target = node.register(8, TestNode.ALL);
    ScatterGatherEntry local = new ScatterGatherEntry(target.address(), 8, target.lkey());
    queuePair.postSend(List.of(new SendWorkRequest(1, local, 0, 0, true)));
  }
}
