package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static dev.sluice.rdma.VerbsException.ENOMEM;
import static dev.sluice.rdma.VerbsException.EOPNOTSUPP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CValue;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import dev.sluice.rdma.verbs.ibv.FakeDevice.Call;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What C has as inline functions is called as C calls it: through the pointers of an {@code
 * ibv_context}, here of one that is only memory, so on every machine.
 */
class FakeVerbsContextTest {
  private static final int LKEY = 0x1a;
  private static final int RKEY = 0x2b;

  private final FakeDevice device = new FakeDevice();
  private final IbvContext context = device.context();
  private final IbvPd pd = new IbvPd(context, device.object(16));
  private final IbvQp qp = new IbvQp(pd, device.object(160), null, qp -> {});
  private final IbvCq cq = new IbvCq(context, device.object(128), null);
  private final IbvSrq srq = new IbvSrq(pd, device.object(128));
  private final IbvSendWrList sends = new IbvSendWrList(device.arena(), 4, 2);
  private final IbvRecvWrList recvs = new IbvRecvWrList(device.arena(), 4, 2);

  @AfterEach
  void closeDevice() {
    device.close();
  }

  @Test
  void aReadHasItsFields() throws Exception {
    sends
        .add(0x1234_5678_9abcL, IbvWrOpcode.RDMA_READ, IbvSendFlags.SIGNALED)
        .sge(0x1000, 64, LKEY)
        .rdma(0x7f00_0000_2000L, RKEY);
    PostedSend posted = post();
    assertThat(posted.wrId()).isEqualTo(0x1234_5678_9abcL);
    assertThat(posted.opcode()).isEqualTo(4);
    assertThat(posted.sendFlags()).isEqualTo(2);
    assertThat(posted.sgList()).containsExactly(new Sge(0x1000, 64, LKEY));
    assertThat(posted.remoteAddr()).isEqualTo(0x7f00_0000_2000L);
    assertThat(posted.rdmaRkey()).isEqualTo(RKEY);
  }

  @Test
  void immediateDataAreBigEndian() throws Exception {
    sends
        .add(1, IbvWrOpcode.RDMA_WRITE_WITH_IMM, IbvSendFlags.FENCE | IbvSendFlags.SOLICITED)
        .rdma(0x2000, RKEY)
        .immediate(0x01020304);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(1);
    assertThat(posted.sendFlags()).isEqualTo(1 | 4);
    assertThat(posted.immData()).isEqualTo(0x04030201);
    assertThat(posted.sgList()).isEmpty();
  }

  @Test
  void inlineSendsSaySo() throws Exception {
    sends.add(1, IbvWrOpcode.SEND_WITH_IMM, IbvSendFlags.INLINE).sge(0x1000, 4, 0).immediate(7);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(3);
    assertThat(posted.sendFlags()).isEqualTo(8);
    assertThat(posted.immData()).isEqualTo(7 << 24);
  }

  @Test
  void atomicsHaveTheirOperands() throws Exception {
    sends
        .add(1, IbvWrOpcode.ATOMIC_CMP_AND_SWP, IbvSendFlags.SIGNALED)
        .sge(0x1000, 8, LKEY)
        .atomic(0x3000, RKEY, 0x1111_2222_3333_4444L, 0x5555_6666_7777_8888L);
    PostedSend swap = post();
    assertThat(swap.opcode()).isEqualTo(5);
    assertThat(swap.remoteAddr()).isEqualTo(0x3000);
    assertThat(swap.compareAdd()).isEqualTo(0x1111_2222_3333_4444L);
    assertThat(swap.swap()).isEqualTo(0x5555_6666_7777_8888L);
    assertThat(swap.atomicRkey()).isEqualTo(RKEY);

    sends.clear();
    sends.add(2, IbvWrOpcode.ATOMIC_FETCH_AND_ADD, 0).sge(0x1000, 8, LKEY).atomic(8, RKEY, 5, 0);
    assertThat(post().opcode()).isEqualTo(6);
  }

  @Test
  void datagramsHaveTheirDestination() throws Exception {
    MemorySegment ah = device.object(24);
    sends.add(1, IbvWrOpcode.SEND, 0).datagram(new IbvAh(pd, ah), 0xabcdef, 0x11223344);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(2);
    assertThat(posted.ah()).isEqualTo(ah.address());
    assertThat(posted.remoteQpn()).isEqualTo(0xabcdef);
    assertThat(posted.remoteQkey()).isEqualTo(0x11223344);
  }

  @Test
  void keysToInvalidateKeepTheirByteOrder() throws Exception {
    sends.add(1, IbvWrOpcode.SEND_WITH_INV, 0).invalidate(0x01020304);
    PostedSend send = post();
    assertThat(send.opcode()).isEqualTo(9);
    assertThat(send.immData()).isEqualTo(0x01020304);

    sends.clear();
    sends.add(1, IbvWrOpcode.LOCAL_INV, 0).invalidate(0x01020304);
    PostedSend local = post();
    assertThat(local.opcode()).isEqualTo(7);
    assertThat(local.immData()).isEqualTo(0x01020304);
  }

  @Test
  void aChainKeepsItsOrder() throws Exception {
    sends.add(1, IbvWrOpcode.RDMA_READ, 0).sge(0x1000, 1, LKEY).sge(0x2000, 2, LKEY);
    sends.add(2, IbvWrOpcode.RDMA_READ, 0);
    sends.add(3, IbvWrOpcode.RDMA_READ, 0).sge(0x3000, 3, LKEY);
    qp.postSend(sends);
    assertThat(device.sends).extracting(PostedSend::wrId).containsExactly(1L, 2L, 3L);
    assertThat(device.sends)
        .extracting(PostedSend::sgList)
        .containsExactly(
            List.of(new Sge(0x1000, 1, LKEY), new Sge(0x2000, 2, LKEY)),
            List.of(),
            List.of(new Sge(0x3000, 3, LKEY)));
  }

  @Test
  void aListThatIsUsedAgainHoldsNothingOfBefore() throws Exception {
    sends.add(1, IbvWrOpcode.SEND_WITH_IMM, 0).sge(1, 1, 1).immediate(-1).rdma(-1, -1);
    sends.add(2, IbvWrOpcode.SEND, 0);
    sends.clear();
    sends.add(3, IbvWrOpcode.SEND, 0);
    PostedSend posted = post();
    assertThat(posted.wrId()).isEqualTo(3);
    assertThat(posted.sgList()).isEmpty();
    assertThat(posted.immData()).isZero();
    assertThat(posted.remoteAddr()).isZero();
  }

  @Test
  void anEmptyListCallsNothing() throws Exception {
    device.refuse(0, EINVAL);
    qp.postSend(sends);
    qp.postRecv(recvs);
    srq.postRecv(recvs);
    assertThat(device.sends).isEmpty();
  }

  @Test
  void aFullListTakesNoMore() {
    for (int i = 0; i < sends.capacity(); i++) {
      sends.add(i, IbvWrOpcode.SEND, 0).sge(0, 1, LKEY).sge(0, 1, LKEY);
    }
    assertThatThrownBy(() -> sends.sge(0, 1, LKEY)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sends.add(9, IbvWrOpcode.SEND, 0))
        .isInstanceOf(IllegalStateException.class);
    sends.clear();
    assertThatThrownBy(() -> sends.immediate(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRefusedRequestIsNamedAndThoseBeforeItArePosted() {
    for (int i = 0; i < 4; i++) {
      sends.add(i, IbvWrOpcode.RDMA_READ, 0).sge(0, 1, LKEY);
    }
    device.refuse(2, ENOMEM);
    assertThatThrownBy(() -> qp.postSend(sends))
        .hasMessageContaining("ibv_post_send refused work request 2")
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isEqualTo(2))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(ENOMEM));
    assertThat(device.sends).extracting(PostedSend::wrId).containsExactly(0L, 1L);
  }

  @Test
  void aDriverMayReturnItsErrorNegative() {
    recvs.add(1);
    device.refuse(0, -EINVAL);
    assertThatThrownBy(() -> srq.postRecv(recvs))
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isZero())
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL));
  }

  @Test
  void aRefusalThatNamesNoRequestIsOneOfAll() {
    sends.add(1, IbvWrOpcode.SEND, 0);
    sends.add(2, IbvWrOpcode.SEND, 0);
    device.refuseWithoutNaming(EINVAL);
    assertThatThrownBy(() -> qp.postSend(sends))
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isZero());
  }

  @Test
  void receivesGoToTheQueuePairOrTheSharedQueue() throws Exception {
    recvs.add(5).sge(0x1000, 10, LKEY).sge(0x2000, 20, LKEY);
    recvs.add(6).sge(0x3000, 30, LKEY);
    qp.postRecv(recvs);
    srq.postRecv(recvs);
    assertThat(device.recvs)
        .isEqualTo(device.srqRecvs)
        .containsExactly(
            new PostedRecv(5, List.of(new Sge(0x1000, 10, LKEY), new Sge(0x2000, 20, LKEY))),
            new PostedRecv(6, List.of(new Sge(0x3000, 30, LKEY))));

    device.refuse(1, ENOMEM);
    assertThatThrownBy(() -> qp.postRecv(recvs))
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isEqualTo(1));
  }

  @Test
  void completionsComeInBatchesWithTheirFields() throws Exception {
    List<RawCompletion> completions =
        IntStream.range(0, 5).mapToObj(RawCompletion::numbered).toList();
    device.completions.addAll(completions);
    IbvWcArray array = new IbvWcArray(device.arena(), 3);
    assertThat(cq.poll(array, 1)).isEqualTo(1);
    assertThat(RawCompletion.read(array, 0)).isEqualTo(completions.get(0));
    assertThat(cq.poll(array, 100)).isEqualTo(3);
    assertThat(IntStream.range(0, 3).mapToObj(i -> RawCompletion.read(array, i)))
        .isEqualTo(completions.subList(1, 4));
    assertThat(cq.poll(array)).isEqualTo(1);
    assertThat(cq.poll(array)).isZero();
  }

  @Test
  void completionsBeyondTheArrayAreRefused() {
    IbvWcArray array = new IbvWcArray(device.arena(), 2);
    assertThatThrownBy(() -> array.wrId(2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> array.status(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> array.byteLength(1 << 28))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @EnumSource
  void everyStatusIsKnown(IbvWcStatus status) throws Exception {
    device.completions.add(new RawCompletion(1, status.value(), 0, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.status(0)).isEqualTo(status);
  }

  @Test
  void aStatusThatIsNotKnownIsAGeneralError() throws Exception {
    device.completions.add(new RawCompletion(1, 99, 0, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.status(0)).isEqualTo(IbvWcStatus.GENERAL_ERR);
  }

  @Test
  void immediateDataArriveAsTheyWereGiven() throws Exception {
    device.completions.add(new RawCompletion(1, 0, 129, 0, 0, 0x04030201, 0, 0, 2));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.opcode(0)).isEqualTo(IbvWcOpcode.RECV_RDMA_WITH_IMM);
    assertThat(array.immediate(0)).isEqualTo(0x01020304);
  }

  @Test
  void aQueueThatCannotBePolledIsAnError() {
    device.result = -1;
    assertErrno(VerbsException.EIO, () -> cq.poll(new IbvWcArray(device.arena(), 1)));
  }

  @Test
  void aQueueIsArmedForAllOrForSolicitedCompletions() throws Exception {
    cq.requestNotify(false);
    cq.requestNotify(true);
    assertThat(device.calls)
        .containsExactly(
            Call.of("req_notify_cq", address(cq), 0), Call.of("req_notify_cq", address(cq), 1));
    device.result = EINVAL;
    assertErrno(EINVAL, () -> cq.requestNotify(false));
  }

  @Test
  void aPortIsAskedForAllOfItsAttributes() throws Exception {
    IbvPortAttr attr = context.queryPort(200);
    assertThat(device.calls).containsExactly(Call.of("query_port", address(context), 200, 52));
    assertThat(attr.state()).isEqualTo(CValue.of(IbvPortState.ACTIVE));
    assertThat(attr.maxMsgSz()).isEqualTo(0xffff_ffffL);
    assertThat(attr.linkLayer()).isEqualTo(CValue.of(IbvLinkLayer.ETHERNET));
    assertThat(attr.get("port_cap_flags2")).isEqualTo(0x8001);
    device.result = EINVAL;
    assertErrno(EINVAL, () -> context.queryPort(3));
  }

  @Test
  void aDeviceIsAskedForItsExtendedAttributes() throws Exception {
    IbvDeviceAttr attr = context.queryDevice();
    assertThat(device.calls).containsExactly(Call.of("query_device_ex", address(context), 0, 400));
    assertThat(attr.maxQp()).isEqualTo(77);
    assertThat(attr.physPortCnt()).isEqualTo(2);
    assertThat(attr.get("odp_caps.general_caps"))
        .isEqualTo(IbvOdpCaps.SUPPORT | IbvOdpCaps.SUPPORT_IMPLICIT);
    device.result = EINVAL;
    assertErrno(EINVAL, context::queryDevice);
  }

  @Test
  void whatAnOlderVerbsContextLacksIsNotSupported() throws Exception {
    device.shorten(FakeDevice.QUERY_DEVICE_EX);
    assertThat(device.context().extendedOps().queryDeviceEx()).isNotNull();
    assertErrno(EOPNOTSUPP, () -> device.context().extendedOps().queryPort());
  }

  @Test
  void withoutAVerbsContextOrAnOperationInItNothingExtendedIsSupported() throws Exception {
    device.operation(FakeDevice.QUERY_PORT, MemorySegment.NULL);
    assertErrno(EOPNOTSUPP, () -> device.context().extendedOps().queryPort());
    device.withoutExtensions();
    assertErrno(EOPNOTSUPP, () -> device.context().extendedOps().queryDeviceEx());
  }

  private PostedSend post() throws Exception {
    device.sends.clear();
    qp.postSend(sends);
    assertThat(device.sends).hasSize(1);
    return device.sends.getFirst();
  }

  private static long address(NativeObject object) throws VerbsException {
    return object.pointer().address();
  }

  private static void assertErrno(int errno, ThrowingCallable call) {
    assertThatThrownBy(call)
        .asInstanceOf(type(VerbsException.class))
        .extracting(VerbsException::errno)
        .isEqualTo(errno);
  }
}
