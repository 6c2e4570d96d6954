package dev.sluice.rdma.contract;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static dev.sluice.rdma.VerbsException.ENOMEM;
import static dev.sluice.rdma.WorkCompletionStatus.LOC_LEN_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.LOC_QP_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_INV_REQ_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RNR_RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.Opcode;
import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.ReceiveWorkRequest;
import dev.sluice.rdma.SendFlag;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SEND and receive, and RDMA WRITE. */
public abstract class SendReceiveContract extends RdmaProviderContract {
  private static final int MIB = 1 << 20;
  private static final Set<SendFlag> SIGNALED = SendWorkRequest.SIGNALED;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4097, 262_144, 3_000_001})
  void sendArrivesInThePostedReceive(int bytes) throws Exception {
    MemoryRegion from = target(bytes + 1);
    fill(left.memory(from), 7);
    MemoryRegion to = right.register(bytes + 1, LOCAL_WRITE);
    Pair pair = connectedPair();
    pair.right().postReceive(List.of(receive(8, entry(to, 0, bytes + 1))));
    pair.left()
        .postSend(List.of(request(7, Opcode.SEND, List.of(entry(from, 0, bytes)), SIGNALED, null)));
    assertThat(left.await(1)).extracting(Completed::wrId).containsExactly(7L);
    Completed received = right.await(1).getFirst();
    assertThat(received.wrId()).isEqualTo(8);
    assertThat(received.status()).isEqualTo(SUCCESS);
    assertThat(received.opcode()).isEqualTo(Opcode.RECV);
    assertThat(received.byteLength()).isEqualTo(bytes);
    assertThat(received.qpNumber()).isEqualTo(pair.right().qpNumber());
    assertThat(right.memory(to).asSlice(0, bytes).mismatch(left.memory(from).asSlice(0, bytes)))
        .isEqualTo(-1);
  }

  @Test
  void sendGathersAndReceiveScatters() throws Exception {
    MemoryRegion from = target(1000);
    fill(left.memory(from), 8);
    MemoryRegion to = right.register(2000, LOCAL_WRITE);
    Pair pair = connectedPair();
    pair.right().postReceive(List.of(receive(1, entry(to, 0, 300), entry(to, 1000, 700))));
    pair.left()
        .postSend(
            List.of(
                request(
                    1,
                    Opcode.SEND,
                    List.of(entry(from, 500, 500), entry(from, 0, 500)),
                    SIGNALED,
                    null)));
    assertThat(right.await(1).getFirst().byteLength()).isEqualTo(1000);
    assertThat(right.memory(to).asSlice(0, 300).mismatch(left.memory(from).asSlice(500, 300)))
        .isEqualTo(-1);
    assertThat(right.memory(to).asSlice(1200, 500).mismatch(left.memory(from).asSlice(0, 500)))
        .isEqualTo(-1);
  }

  @Test
  void immediateDataArrivesWithASend() throws Exception {
    Pair pair = connectedPair();
    pair.right().postReceive(List.of(receive(1)));
    pair.left().postSend(List.of(request(1, Opcode.SEND_WITH_IMM, List.of(), SIGNALED, null)));
    assertThat(right.await(1).getFirst().immediate()).isEqualTo(0x1234);
  }

  @Test
  void sendsArriveInOrder() throws Exception {
    MemoryRegion from = target(4);
    Pair pair = connectedPair();
    List<ReceiveWorkRequest> receives = new ArrayList<>();
    List<SendWorkRequest> sends = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      receives.add(receive(i, entry(right.register(4, LOCAL_WRITE), 0, 4)));
      sends.add(request(i, Opcode.SEND_WITH_IMM, List.of(entry(from, 0, 4)), SIGNALED, null));
    }
    pair.right().postReceive(receives);
    pair.left().postSend(sends);
    assertThat(wrIds(right.await(100))).isSorted();
    assertThat(wrIds(left.await(100))).isSorted();
  }

  @Test
  void inlineDataMayBeOverwrittenAtOnce() throws Exception {
    MemoryRegion from = target(64);
    MemoryRegion to = right.register(64, LOCAL_WRITE);
    Pair pair = connectedPair();
    pair.right().postReceive(List.of(receive(1, entry(to, 0, 64))));
    left.memory(from).fill((byte) 1);
    pair.left()
        .postSend(
            List.of(
                request(
                    1,
                    Opcode.SEND,
                    List.of(entry(from, 0, 64)),
                    EnumSet.of(SendFlag.INLINE, SendFlag.SIGNALED),
                    null)));
    left.memory(from).fill((byte) 2);
    right.await(1);
    assertThat(right.memory(to).toArray(ValueLayout.JAVA_BYTE)).containsOnly(1);
  }

  @Test
  void tooMuchInlineDataIsRefused() throws Exception {
    Pair pair = connectedPair();
    int bytes = pair.left().capabilities().maxInlineData() + 1;
    SendWorkRequest bad =
        request(
            1,
            Opcode.SEND,
            List.of(entry(target(bytes), 0, bytes)),
            EnumSet.of(SendFlag.INLINE),
            null);
    assertErrno(EINVAL, () -> pair.left().postSend(List.of(bad)));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 262_145, 3 * MIB})
  void writeChangesThePeersMemory(int bytes) throws Exception {
    MemoryRegion from = target(bytes + 1);
    fill(left.memory(from), 9);
    MemoryRegion to = source(bytes + 1);
    connectedPair()
        .left()
        .postSend(
            List.of(request(1, Opcode.RDMA_WRITE, List.of(entry(from, 0, bytes)), SIGNALED, to)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
    assertThat(right.memory(to).asSlice(0, bytes).mismatch(left.memory(from).asSlice(0, bytes)))
        .isEqualTo(-1);
  }

  @Test
  void writeWithImmediateDataTakesAReceive() throws Exception {
    MemoryRegion from = target(MIB);
    fill(left.memory(from), 10);
    MemoryRegion to = source(MIB);
    Pair pair = connectedPair();
    pair.right().postReceive(List.of(receive(5)));
    pair.left()
        .postSend(
            List.of(
                request(
                    1, Opcode.RDMA_WRITE_WITH_IMM, List.of(entry(from, 0, MIB)), SIGNALED, to)));
    Completed received = right.await(1).getFirst();
    assertThat(received.opcode()).isEqualTo(Opcode.RECV_RDMA_WITH_IMM);
    assertThat(received.immediate()).isEqualTo(0x1234);
    assertThat(received.byteLength()).isEqualTo(MIB);
    assertThat(right.memory(to).mismatch(left.memory(from))).isEqualTo(-1);
  }

  @Test
  void sendWithoutAReceiveFailsAfterTheRetries() throws Exception {
    ConnectionAttributes twice =
        ConnectionAttributes.DEFAULT.with(
            c -> {
              c.rnrRetry = 2;
              c.maxRdAtomic = 16;
            });
    Pair pair = connectedPair(twice);
    pair.left()
        .postSend(
            List.of(
                request(1, Opcode.SEND, List.of(), SIGNALED, null),
                read(2, target(8), source(8), 8)));
    assertThat(statuses(left.await(2))).containsExactly(RNR_RETRY_EXC_ERR, WR_FLUSH_ERR);
    assertThat(pair.left().state()).isEqualTo(QueuePairState.ERROR);
  }

  @Test
  void sendWaitsForAReceiveAndWhatIsBehindItKeepsItsOrder() throws Exception {
    MemoryRegion from = target(MIB);
    fill(left.memory(from), 11);
    MemoryRegion to = right.register(MIB, LOCAL_WRITE);
    MemoryRegion source = source(64);
    MemoryRegion target = target(64);
    Pair pair = connectedPair();
    pair.left()
        .postSend(
            List.of(
                read(1, target, source, 64),
                request(2, Opcode.SEND, List.of(entry(from, 0, MIB)), SIGNALED, null),
                read(3, target, source, 64),
                request(4, Opcode.SEND, List.of(entry(from, 0, 1)), SIGNALED, null)));
    assertThat(wrIds(left.await(1))).containsExactly(1L);
    pair.right().postReceive(List.of(receive(1, entry(to, 0, MIB)), receive(2, entry(to, 0, 1))));
    List<Completed> completed = left.await(3);
    assertThat(statuses(completed)).containsOnly(SUCCESS);
    assertThat(wrIds(completed)).containsExactly(2L, 3L, 4L);
    assertThat(wrIds(right.await(2))).containsExactly(1L, 2L);
    assertThat(right.memory(to).mismatch(left.memory(from))).isEqualTo(-1);
  }

  @Test
  void sendThatIsLargerThanTheReceiveFailsOnBothSides() throws Exception {
    Pair pair = connectedPair();
    MemoryRegion to = right.register(64, LOCAL_WRITE);
    pair.right().postReceive(List.of(receive(1, entry(to, 0, 63)), receive(2, entry(to, 0, 64))));
    pair.left()
        .postSend(
            List.of(request(1, Opcode.SEND, List.of(entry(target(64), 0, 64)), SIGNALED, null)));
    assertThat(statuses(left.await(1)))
        .containsExactly(
            expected(REM_INV_REQ_ERR, Deviation.LENGTH_ERROR_IS_REM_OP_ERR, REM_OP_ERR));
    assertThat(statuses(right.await(2)))
        .containsExactly(
            expected(LOC_LEN_ERR, Deviation.RECEIVE_ERROR_IS_LOC_QP_OP_ERR, LOC_QP_OP_ERR),
            WR_FLUSH_ERR);
    assertThat(pair.right().state()).isEqualTo(QueuePairState.ERROR);
  }

  @Test
  void receivesMayBePostedBeforeTheConnection() throws Exception {
    var a = left.createQueuePair();
    var b = right.createQueuePair();
    b.toInit(Set.of());
    b.postReceive(List.of(receive(1)));
    a.toInit(Set.of());
    b.toRtr(a.address(), ConnectionAttributes.DEFAULT);
    a.toRtr(TestNode.meet(a, b.address()), ConnectionAttributes.DEFAULT);
    a.toRts();
    a.postSend(List.of(request(1, Opcode.SEND, List.of(), SIGNALED, null)));
    assertThat(statuses(right.await(1))).containsExactly(SUCCESS);
  }

  @Test
  void fullReceiveQueueRefusesTheFirstThatDoesNotFit() throws Exception {
    Pair pair = connectedPair();
    int places = pair.right().capabilities().maxRecvWr();
    List<ReceiveWorkRequest> receives = new ArrayList<>();
    for (int i = 0; i < places + 1; i++) {
      receives.add(receive(i));
    }
    assertThatThrownBy(() -> pair.right().postReceive(receives))
        .isInstanceOfSatisfying(
            PostException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(ENOMEM);
              assertThat(e.badIndex()).isEqualTo(places);
            });
  }

  @Test
  void polledReceivesGiveTheirPlacesBack() throws Exception {
    Pair pair = connectedPair();
    int places = pair.right().capabilities().maxRecvWr();
    for (int i = 0; i < places + 10; i++) {
      pair.right().postReceive(List.of(receive(i)));
      pair.left().postSend(List.of(request(i, Opcode.SEND, List.of(), SIGNALED, null)));
      right.await(1);
      left.await(1);
    }
  }
}
