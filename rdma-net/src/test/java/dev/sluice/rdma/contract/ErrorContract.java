// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.LOC_PROT_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_INV_REQ_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.RemotePeer;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletionStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Failures: how they are reported, and which memory they must not touch. */
public abstract class ErrorContract extends RdmaProviderContract {
  private static final int BYTES = 4096;

  /** A READ that the peer, or this side, must refuse. */
  enum BadRead {
    WRONG_RKEY(REM_ACCESS_ERR),
    BEFORE_THE_REGION(REM_ACCESS_ERR),
    PAST_THE_END(REM_ACCESS_ERR),
    FAR_OUTSIDE(REM_ACCESS_ERR),
    NOT_REMOTE_READ(REM_ACCESS_ERR),
    OTHER_DOMAIN(REM_ACCESS_ERR),
    LKEY_AS_RKEY(REM_ACCESS_ERR),
    WRONG_LKEY(LOC_PROT_ERR),
    LOCAL_PAST_THE_END(LOC_PROT_ERR),
    NOT_LOCAL_WRITE(LOC_PROT_ERR),
    LOCAL_OTHER_DOMAIN(LOC_PROT_ERR),
    LOCAL_DEREGISTERED(LOC_PROT_ERR);

    private final WorkCompletionStatus status;

    BadRead(WorkCompletionStatus status) {
      this.status = status;
    }
  }

  private SendWorkRequest badRead(BadRead kind) throws Exception {
    MemoryRegion source = source(BYTES);
    MemoryRegion target = target(BYTES);
    ScatterGatherEntry local = entry(target, 0, BYTES);
    long address = source.address();
    int rkey = source.rkey();
    switch (kind) {
      case WRONG_RKEY -> rkey ^= 0x0F0F_0F0F;
      case BEFORE_THE_REGION -> address -= 1;
      case PAST_THE_END -> address += 1;
      case FAR_OUTSIDE -> address = Long.MAX_VALUE - 1;
      case NOT_REMOTE_READ -> {
        MemoryRegion closed = right.register(BYTES, LOCAL_WRITE);
        address = closed.address();
        rkey = closed.rkey();
      }
      case OTHER_DOMAIN -> {
        ProtectionDomain other = right.device.allocateProtectionDomain();
        MemoryRegion foreign = other.register(right.memory(source), TestNode.ALL);
        rkey = foreign.rkey();
      }
      case LKEY_AS_RKEY -> rkey = source.lkey();
      case WRONG_LKEY -> local = new ScatterGatherEntry(target.address(), BYTES, ~target.lkey());
      case LOCAL_PAST_THE_END -> local = entry(target, 1, BYTES);
      case NOT_LOCAL_WRITE -> local = entry(left.register(BYTES, REMOTE_READ), 0, BYTES);
      case LOCAL_OTHER_DOMAIN -> {
        ProtectionDomain other = left.device.allocateProtectionDomain();
        MemoryRegion foreign = other.register(left.memory(target), TestNode.ALL);
        local = entry(foreign, 0, BYTES);
      }
      case LOCAL_DEREGISTERED -> target.close();
    }
    return new SendWorkRequest(1, local, address, rkey, true);
  }

  @ParameterizedTest
  @EnumSource
  void badReadFailsItsQueuePairAndNoOther(BadRead kind) throws Exception {
    assumeFalse(
        kind == BadRead.LKEY_AS_RKEY && has(Deviation.LKEY_IS_RKEY),
        "the device has one key for local and remote access");
    Pair good = connectedPair();
    Pair bad = connectedPair();
    MemoryRegion source = source(BYTES);
    MemoryRegion target = target(BYTES);
    bad.left()
        .postSend(
            List.of(
                read(0, target, source, BYTES),
                badRead(kind),
                read(2, target, source, BYTES),
                new SendWorkRequest(
                    3, entry(target, 0, 8), source.address(), source.rkey(), false)));
    List<Completed> completed = left.await(4);
    assertThat(statuses(completed))
        .containsExactly(SUCCESS, kind.status, WR_FLUSH_ERR, WR_FLUSH_ERR);
    assertThat(wrIds(completed)).containsExactly(0L, 1L, 2L, 3L);
    assertThat(bad.left().state()).isEqualTo(QueuePairState.ERROR);
    // Exactly once: no completion is left over, and the good pair works.
    assertWorks(good);
    assertThat(good.left().state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void everythingPostedToAFailedQueuePairIsFlushedExactlyOnce() throws Exception {
    Pair pair = connectedPair();
    MemoryRegion source = source(BYTES);
    MemoryRegion target = target(BYTES);
    List<SendWorkRequest> chain = new ArrayList<>();
    chain.add(badRead(BadRead.WRONG_RKEY));
    chain.addAll(Collections.nCopies(50, read(2, target, source, BYTES)));
    pair.left().postSend(chain);
    List<Completed> completed = left.await(51);
    assertThat(statuses(completed)).filteredOn(s -> s == REM_ACCESS_ERR).hasSize(1);
    assertThat(statuses(completed)).filteredOn(s -> s == WR_FLUSH_ERR).hasSize(50);
    pair.left().postSend(List.of(read(7, target, source, BYTES)));
    assertThat(left.await(1))
        .extracting(Completed::wrId, Completed::status)
        .containsExactly(tuple(7L, WR_FLUSH_ERR));
    assertWorks(connectedPair());
  }

  @Test
  void zeroLengthReadNeedsNoKey() throws Exception {
    Pair pair = connectedPair();
    pair.left()
        .postSend(List.of(new SendWorkRequest(1, new ScatterGatherEntry(0, 0, 0), 0, 0, true)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
  }

  @Test
  void queuePairThatAllowsNothingRefusesReads() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(Set.of());
    b.toInit(Set.of());
    b.toRtr(a.address(), ConnectionAttributes.DEFAULT);
    a.toRtr(TestNode.meet(a, b.address()), ConnectionAttributes.DEFAULT);
    a.toRts();
    a.postSend(List.of(read(1, target(8), source(8), 8)));
    // NICs differ in which of the two statuses they report.
    assertThat(statuses(left.await(1))).first().isIn(REM_ACCESS_ERR, REM_INV_REQ_ERR);
  }

  @Test
  void peerThatNeverConnectsIsNoticed() throws Exception {
    assumeConnectingByAddresses();
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    a.toRtr(b.address(), TestNode.SHORT_TIMEOUT);
    a.toRts();
    MemoryRegion source = source(8);
    a.postSend(List.of(read(1, target(8), source, 8), read(2, target(8), source, 8)));
    assertThat(statuses(left.await(2))).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR);
  }

  @Test
  void closedQueuePairOfThePeerIsNoticedByTheNextRequest() throws Exception {
    assumeConnectingByAddresses();
    Pair pair = connectedPair();
    assertWorks(pair);
    pair.right().close();
    assertThat(pair.left().state()).isEqualTo(QueuePairState.RTS);
    pair.left().postSend(List.of(read(1, target(8), source(8), 8)));
    assertThat(statuses(left.await(1))).containsExactly(RETRY_EXC_ERR);
    assertThat(pair.left().state()).isEqualTo(QueuePairState.ERROR);
  }

  @Test
  void failedQueuePairOfThePeerIsNoticedByTheNextRequest() throws Exception {
    Pair pair = connectedPair(TestNode.SHORT_TIMEOUT);
    pair.right().toError();
    pair.left().postSend(List.of(read(1, target(8), source(8), 8)));
    assertThat(statuses(left.await(1))).containsExactly(RETRY_EXC_ERR);
  }

  @Test
  void killedPeerProcessIsNoticedByItsRequestsAndByNoOther() throws Exception {
    assumeConnectingByAddresses();
    Pair good = connectedPair();
    int bytes = 1 << 20;
    MemoryRegion target = target(bytes);
    try (RemotePeer peer =
        RemotePeer.start(left.device.providerName(), subject().localAddress(), bytes)) {
      QueuePair busy = connectTo(peer);
      QueuePair idle = connectTo(peer);
      SendWorkRequest read =
          new SendWorkRequest(
              1, entry(target, 0, bytes), peer.region().address(), peer.region().rkey(), true);
      busy.postSend(Collections.nCopies(100, read));
      assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
      peer.kill();
      List<WorkCompletionStatus> statuses = statuses(left.await(99));
      int failed = statuses.indexOf(RETRY_EXC_ERR);
      // A fast peer may have answered everything before it was killed.
      if (failed >= 0) {
        assertThat(statuses.subList(0, failed)).allMatch(s -> s == SUCCESS);
        assertThat(statuses.subList(failed + 1, 99)).allMatch(s -> s == WR_FLUSH_ERR);
      }
      assertThat(idle.state()).isEqualTo(QueuePairState.RTS);
      idle.postSend(List.of(read));
      assertThat(statuses(left.await(1))).containsExactly(RETRY_EXC_ERR);
    }
    assertWorks(good);
  }

  private QueuePair connectTo(RemotePeer peer) throws Exception {
    QueuePair queuePair = left.createQueuePair();
    queuePair.toInit(Set.of());
    QueuePairAddress remote = peer.connect(queuePair.address());
    queuePair.toRtr(TestNode.meet(queuePair, remote), ConnectionAttributes.DEFAULT);
    queuePair.toRts();
    return queuePair;
  }
}
