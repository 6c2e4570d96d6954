package dev.sluice.rdma.contract;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static dev.sluice.rdma.WorkCompletionStatus.LOC_PROT_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_INV_REQ_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.Opcode;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Atomic operations on 8 bytes of the peer's memory. */
public abstract class AtomicContract extends RdmaProviderContract {
  private MemoryRegion remote;
  private MemoryRegion local;

  @BeforeEach
  void registerCounters() throws Exception {
    remote = right.register(64, TestNode.ALL);
    local = target(64);
    right.memory(remote).set(ValueLayout.JAVA_LONG, 8, 40);
  }

  private SendWorkRequest atomic(Opcode opcode, long compareAdd, long swap) {
    return atomic(opcode, remote.address() + 8, remote.rkey(), local.lkey(), compareAdd, swap);
  }

  private SendWorkRequest atomic(
      Opcode opcode, long address, int rkey, int lkey, long compareAdd, long swap) {
    return new SendWorkRequest(
        1,
        opcode,
        List.of(new ScatterGatherEntry(local.address(), 8, lkey)),
        SendWorkRequest.SIGNALED,
        0,
        address,
        rkey,
        compareAdd,
        swap);
  }

  private WorkCompletionStatus run(SendWorkRequest request) throws Exception {
    connectedPair().left().postSend(List.of(request));
    return left.await(1).getFirst().status();
  }

  private long remoteValue() {
    return right.memory(remote).get(ValueLayout.JAVA_LONG, 8);
  }

  private long returnedValue() {
    return left.memory(local).get(ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void fetchAndAddAddsAndReturnsTheOldValue() throws Exception {
    assertThat(run(atomic(Opcode.ATOMIC_FETCH_AND_ADD, 2, 0))).isEqualTo(SUCCESS);
    assertThat(returnedValue()).isEqualTo(40);
    assertThat(remoteValue()).isEqualTo(42);
  }

  @Test
  void compareAndSwapSwapsWhereTheValueIsTheExpectedOne() throws Exception {
    assertThat(run(atomic(Opcode.ATOMIC_CMP_AND_SWP, 40, -1))).isEqualTo(SUCCESS);
    assertThat(returnedValue()).isEqualTo(40);
    assertThat(remoteValue()).isEqualTo(-1);
  }

  @Test
  void compareAndSwapLeavesAnotherValueAlone() throws Exception {
    assertThat(run(atomic(Opcode.ATOMIC_CMP_AND_SWP, 41, -1))).isEqualTo(SUCCESS);
    assertThat(returnedValue()).isEqualTo(40);
    assertThat(remoteValue()).isEqualTo(40);
  }

  @Test
  void additionsOfSeveralQueuePairsAreAllThere() throws Exception {
    for (int i = 0; i < 5; i++) {
      connectedPair()
          .left()
          .postSend(Collections.nCopies(100, atomic(Opcode.ATOMIC_FETCH_AND_ADD, 1, 0)));
    }
    assertThat(statuses(left.await(500))).containsOnly(SUCCESS);
    assertThat(remoteValue()).isEqualTo(540);
  }

  @Test
  void unalignedAddressIsAnInvalidRequest() throws Exception {
    SendWorkRequest bad =
        atomic(
            Opcode.ATOMIC_FETCH_AND_ADD, remote.address() + 4, remote.rkey(), local.lkey(), 1, 0);
    if (has(Deviation.UNALIGNED_ATOMIC_IS_NOT_POSTED)) {
      assertErrno(EINVAL, () -> run(bad));
    } else {
      assertThat(run(bad)).isEqualTo(REM_INV_REQ_ERR);
    }
    assertThat(remoteValue()).isEqualTo(40);
  }

  @Test
  void wrongRemoteKeyIsRefused() throws Exception {
    SendWorkRequest bad =
        atomic(
            Opcode.ATOMIC_CMP_AND_SWP,
            remote.address() + 8,
            remote.rkey() ^ 0x5555_5555,
            local.lkey(),
            40,
            0);
    assertThat(run(bad)).isEqualTo(REM_ACCESS_ERR);
    assertThat(remoteValue()).isEqualTo(40);
  }

  @Test
  void wrongLocalKeyIsRefused() throws Exception {
    SendWorkRequest bad =
        atomic(
            Opcode.ATOMIC_CMP_AND_SWP,
            remote.address() + 8,
            remote.rkey(),
            local.lkey() ^ 0x5555_5555,
            41,
            0);
    assertThat(run(bad)).isEqualTo(LOC_PROT_ERR);
  }

  @Test
  void regionMustAllowIt() throws Exception {
    MemoryRegion readable =
        right.register(64, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE));
    SendWorkRequest bad =
        atomic(
            Opcode.ATOMIC_FETCH_AND_ADD, readable.address(), readable.rkey(), local.lkey(), 1, 0);
    assertThat(run(bad)).isEqualTo(REM_ACCESS_ERR);
  }
}
