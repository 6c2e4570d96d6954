// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.ENOMEM;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static dev.sluice.verbs.VerbsException.EPERM;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.FakeDevice.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Java calls C's inline functions as C does: through the pointers of an {@code ibv_context}. This
 * context is only memory, so the test runs on every machine.
 */
class FakeVerbsContextTest {
  private static final int LKEY = 0x1a;
  private static final int RKEY = 0x2b;

  /** Offset in struct ibv_qp. */
  private static final int QP_TYPE = 60;

  private final FakeDevice device = new FakeDevice();
  private final IbvContext context = device.context();
  private final IbvPd pd = new IbvPd(context, device.object(16));
  private final IbvQp qp = new IbvQp(pd, pd.context(), device.object(160), null, 0, qp -> {});
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
        .add(0x1234_5678_9abcL, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
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
        .add(
            1,
            IbvSendWrList.Opcode.RDMA_WRITE_WITH_IMM,
            IbvSendWrList.Flags.FENCE | IbvSendWrList.Flags.SOLICITED)
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
    sends
        .add(1, IbvSendWrList.Opcode.SEND_WITH_IMM, IbvSendWrList.Flags.INLINE)
        .sge(0x1000, 4, 0)
        .immediate(7);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(3);
    assertThat(posted.sendFlags()).isEqualTo(8);
    assertThat(posted.immData()).isEqualTo(7 << 24);
  }

  @Test
  void atomicsHaveTheirOperands() throws Exception {
    sends
        .add(1, IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, IbvSendWrList.Flags.SIGNALED)
        .sge(0x1000, 8, LKEY)
        .atomic(0x3000, RKEY, 0x1111_2222_3333_4444L, 0x5555_6666_7777_8888L);
    PostedSend swap = post();
    assertThat(swap.opcode()).isEqualTo(5);
    assertThat(swap.remoteAddr()).isEqualTo(0x3000);
    assertThat(swap.compareAdd()).isEqualTo(0x1111_2222_3333_4444L);
    assertThat(swap.swap()).isEqualTo(0x5555_6666_7777_8888L);
    assertThat(swap.atomicRkey()).isEqualTo(RKEY);

    sends.clear();
    sends
        .add(2, IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, 0)
        .sge(0x1000, 8, LKEY)
        .atomic(8, RKEY, 5, 0);
    assertThat(post().opcode()).isEqualTo(6);
  }

  @Test
  void datagramsHaveTheirDestination() throws Exception {
    MemorySegment ah = device.object(24);
    sends.add(1, IbvSendWrList.Opcode.SEND, 0).datagram(new IbvAh(pd, ah), 0xabcdef, 0x11223344);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(2);
    assertThat(posted.ah()).isEqualTo(ah.address());
    assertThat(posted.remoteQpn()).isEqualTo(0xabcdef);
    assertThat(posted.remoteQkey()).isEqualTo(0x11223344);
  }

  @Test
  void keysToInvalidateKeepTheirByteOrder() throws Exception {
    sends.add(1, IbvSendWrList.Opcode.SEND_WITH_INV, 0).invalidate(0x01020304);
    PostedSend send = post();
    assertThat(send.opcode()).isEqualTo(9);
    assertThat(send.immData()).isEqualTo(0x01020304);

    sends.clear();
    sends.add(1, IbvSendWrList.Opcode.LOCAL_INV, 0).invalidate(0x01020304);
    PostedSend local = post();
    assertThat(local.opcode()).isEqualTo(7);
    assertThat(local.immData()).isEqualTo(0x01020304);
  }

  @Test
  void aBindNamesWindowAndRegion() throws Exception {
    IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_2);
    IbvMr mr = new IbvMr(pd, device.object(48, pd.pointer()));
    sends
        .add(1, IbvSendWrList.Opcode.BIND_MW, IbvSendWrList.Flags.SIGNALED)
        .bind(mw, IbvMw.nextRkey(mw.rkey()), mr, 0x4000, 1L << 33, IbvMr.Access.REMOTE_READ);
    PostedSend posted = post();
    assertThat(posted.opcode()).isEqualTo(8);
    assertThat(posted.bindMw()).isEqualTo(mw.pointer().address());
    assertThat(posted.bindRkey()).isEqualTo(0x1101);
    assertThat(posted.bindMr()).isEqualTo(mr.pointer().address());
    assertThat(posted.bindAddr()).isEqualTo(0x4000);
    assertThat(posted.bindLength()).isEqualTo(1L << 33);
    assertThat(posted.bindAccess()).isEqualTo(4);
  }

  @Test
  void aChainKeepsItsOrder() throws Exception {
    sends.add(1, IbvSendWrList.Opcode.RDMA_READ, 0).sge(0x1000, 1, LKEY).sge(0x2000, 2, LKEY);
    sends.add(2, IbvSendWrList.Opcode.RDMA_READ, 0);
    sends.add(3, IbvSendWrList.Opcode.RDMA_READ, 0).sge(0x3000, 3, LKEY);
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
  void aReusedListHoldsNoFormerRequests() throws Exception {
    sends.add(1, IbvSendWrList.Opcode.SEND_WITH_IMM, 0).sge(1, 1, 1).immediate(-1).rdma(-1, -1);
    sends.add(2, IbvSendWrList.Opcode.SEND, 0);
    sends.clear();
    sends.add(3, IbvSendWrList.Opcode.SEND, 0);
    PostedSend posted = post();
    assertThat(posted.wrId()).isEqualTo(3);
    assertThat(posted.sgList()).isEmpty();
    assertThat(posted.immData()).isZero();
    assertThat(posted.remoteAddr()).isZero();
  }

  @Test
  void aReusedRequestHasNoMembersOfAnAtomic() throws Exception {
    sends.add(1, IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, 0).atomic(-1, -1, -1, -1).xrc(-1);
    requireOnlyItsId();
  }

  @Test
  void aReusedRequestHasNoMembersOfABind() throws Exception {
    IbvMr mr = new IbvMr(pd, device.object(48, pd.pointer()));
    sends
        .add(1, IbvSendWrList.Opcode.BIND_MW, 0)
        .bind(pd.allocMw(IbvMw.Type.TYPE_2), -1, mr, -1, -1, -1);
    requireOnlyItsId();
  }

  @Test
  void aNewListHasNoMembersThatItsMemoryHeldBefore() {
    IbvSendWrList list = new IbvSendWrList(usedMemory(), 1, 1);
    list.add(1, IbvSendWrList.Opcode.BIND_MW, 0);
    assertThatThrownBy(() -> qp.postSend(list))
        .isInstanceOf(PostException.class)
        .hasMessageContaining("lacks the memory window");
  }

  /** Returns an arena whose memory is not zero, as that of a pool may be. */
  private Arena usedMemory() {
    return new Arena() {
      @Override
      public MemorySegment allocate(long bytes, long alignment) {
        return device.arena().allocate(bytes, alignment).fill((byte) -1);
      }

      @Override
      public MemorySegment.Scope scope() {
        return device.arena().scope();
      }

      @Override
      public void close() {}
    };
  }

  /** Uses the list's slot again, and requires a request of zeros but for its id. */
  private void requireOnlyItsId() throws Exception {
    sends.clear();
    sends.add(3, IbvSendWrList.Opcode.RDMA_WRITE, 0);
    PostedSend posted = post();
    assertThat(posted.words().get(0)).isEqualTo(3);
    assertThat(posted.words().subList(1, posted.words().size())).containsOnly(0);
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
      sends.add(i, IbvSendWrList.Opcode.SEND, 0).sge(0, 1, LKEY).sge(0, 1, LKEY);
    }
    assertThatThrownBy(() -> sends.sge(0, 1, LKEY)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sends.add(9, IbvSendWrList.Opcode.SEND, 0))
        .isInstanceOf(IllegalStateException.class);
    sends.clear();
    assertThatThrownBy(() -> sends.immediate(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRefusedRequestIsNamedAndThoseBeforeItArePosted() {
    for (int i = 0; i < 4; i++) {
      sends.add(i, IbvSendWrList.Opcode.RDMA_READ, 0).sge(0, 1, LKEY);
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
    sends.add(1, IbvSendWrList.Opcode.SEND, 0);
    sends.add(2, IbvSendWrList.Opcode.SEND, 0);
    device.refuseWithoutNaming(EINVAL);
    assertThatThrownBy(() -> qp.postSend(sends))
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isZero());
  }

  @Test
  void aFormerRefusalIsForgotten() {
    for (int i = 0; i < 3; i++) {
      sends.add(i, IbvSendWrList.Opcode.SEND, 0);
    }
    device.refuse(2, ENOMEM);
    assertThatThrownBy(() -> qp.postSend(sends)).hasMessageContaining("refused work request 2");
    device.refuseWithoutNaming(EINVAL);
    assertThatThrownBy(() -> qp.postSend(sends)).hasMessageContaining("refused work request 0");
  }

  @Test
  void aBindWithoutItsWindowIsNotPosted() {
    sends.add(1, IbvSendWrList.Opcode.SEND, 0);
    sends.add(2, IbvSendWrList.Opcode.BIND_MW, 0);
    assertThatThrownBy(() -> qp.postSend(sends))
        .hasMessageContaining("request 1 lacks the memory window")
        .asInstanceOf(type(PostException.class))
        .satisfies(e -> assertThat(e.badIndex()).isZero())
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL));
    assertThat(device.sends).isEmpty();
  }

  @Test
  void aDatagramWithoutItsDestinationIsNotPosted() throws Exception {
    MemorySegment struct = device.object(160);
    struct.set(JAVA_INT, QP_TYPE, IbvQp.Type.UD.value());
    IbvQp datagrams = new IbvQp(pd, pd.context(), struct, null, 0, qp -> {});
    IbvAh ah = new IbvAh(pd, device.object(24));
    sends.add(1, IbvSendWrList.Opcode.SEND, 0).datagram(ah, 1, 1);
    datagrams.postSend(sends);
    assertThat(device.sends).hasSize(1);

    sends.clear();
    sends.add(1, IbvSendWrList.Opcode.SEND, 0).datagram(ah, 1, 1);
    sends.add(2, IbvSendWrList.Opcode.SEND, 0);
    assertThatThrownBy(() -> datagrams.postSend(sends))
        .isInstanceOf(PostException.class)
        .hasMessageContaining("request 1 has no destination");
    assertThat(device.sends).hasSize(1);
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
  void everyStatusIsKnown(IbvWcArray.Status status) throws Exception {
    device.completions.add(new RawCompletion(1, status.value(), 0, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.status(0)).isEqualTo(status);
  }

  @Test
  void aStatusThatIsNotKnownIsAGeneralErrorWithItsNumber() throws Exception {
    device.completions.add(new RawCompletion(1, 99, 0, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.status(0)).isEqualTo(IbvWcArray.Status.GENERAL_ERR);
    assertThat(array.statusNumber(0)).isEqualTo(99);
  }

  @Test
  void anOpcodeThatIsNotKnownIsANumber() throws Exception {
    device.completions.add(new RawCompletion(1, 0, 200, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.opcode(0).known()).isEmpty();
    assertThat(array.opcode(0)).hasToString("200");
  }

  @Test
  void aTypeOrStateThatIsNotKnownIsANumber() throws Exception {
    MemorySegment struct = device.object(160);
    struct.set(JAVA_INT, QP_TYPE, 0xfe);
    assertThat(new IbvQp(pd, pd.context(), struct, null, 0, qp -> {}).type()).hasToString("254");
    MemorySegment attr = device.memory(256);
    attr.set(JAVA_INT, 0, 99);
    attr.set(JAVA_INT, 8, 6);
    assertThat(IbvQpAttr.read(attr, 0).state()).hasToString("99");
    assertThat(IbvQpAttr.read(attr, 0).pathMtu()).hasToString("6");
  }

  @Test
  void immediateDataArriveAsTheyWereGiven() throws Exception {
    device.completions.add(new RawCompletion(1, 0, 129, 0, 0, 0x04030201, 0, 0, 2));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertThat(array.opcode(0)).isEqualTo(CValue.of(IbvWcArray.Opcode.RECV_RDMA_WITH_IMM));
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
  void aTypeOneWindowIsBoundByAVerbAndGetsAKey() throws Exception {
    IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_1);
    IbvMr mr = new IbvMr(pd, device.object(48, pd.pointer()));
    qp.bindMw(mw, 9, IbvSendWrList.Flags.SIGNALED, mr, 0x5000, 100, IbvMr.Access.REMOTE_WRITE);
    assertThat(mw.rkey()).isEqualTo(0x1101);
    long window = address(mw);
    mw.close();
    mw.close();
    assertThat(device.calls)
        .containsExactly(
            Call.of("alloc_mw", address(pd), 1),
            Call.of("bind_mw", address(qp), window, 9, 2, address(mr), 0x5000, 100, 2),
            Call.of("dealloc_mw", window));
  }

  @Test
  void bindsThatTheVerbDoesNotAllowAreRefused() throws Exception {
    IbvMw typeTwo = pd.allocMw(IbvMw.Type.TYPE_2);
    IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_1);
    IbvMr mr = new IbvMr(pd, device.object(48, pd.pointer()));
    IbvMr ofOtherDomain = new IbvMr(pd, device.object(48, device.object(16)));
    device.calls.clear();
    assertErrno(EINVAL, () -> qp.bindMw(typeTwo, 1, 0, mr, 0, 0, 0));
    assertErrno(EINVAL, () -> qp.bindMw(mw, 1, 0, null, 0, 0, 0));
    assertErrno(EPERM, () -> qp.bindMw(mw, 1, 0, ofOtherDomain, 0x5000, 100, 0));
    assertThat(device.calls).isEmpty();

    qp.bindMw(mw, 1, 0, mr, 0, 0, 0);
    assertThat(device.calls).hasSize(1);
    device.result = ENOMEM;
    assertErrno(ENOMEM, () -> qp.bindMw(mw, 1, 0, mr, 0, 0, 0));
  }

  @Test
  void aDeviceWithoutWindowsIsReported() throws Exception {
    device.operation(FakeDevice.ALLOC_MW, MemorySegment.NULL);
    assertErrno(EOPNOTSUPP, () -> pd.allocMw(IbvMw.Type.TYPE_1));
  }

  /** Other releases and vendors have more opcodes. */
  @Test
  void anUnknownOpcodeOfACompletionIsANumber() throws Exception {
    device.completions.add(new RawCompletion(1, 0, 0x7ffe, 0, 0, 0, 0, 0, 0));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);

    assertThat(cq.poll(array)).isEqualTo(1);
    assertThat(array.opcode(0).known()).isEmpty();
    assertThat(array.opcode(0)).hasToString("32766");
  }

  @Test
  void aPortIsAskedForAllOfItsAttributes() throws Exception {
    IbvPortAttr attr = context.queryPort(200);
    assertThat(device.calls).containsExactly(Call.of("query_port", address(context), 200, 52));
    assertThat(attr.state()).isEqualTo(CValue.of(IbvPortAttr.State.ACTIVE));
    assertThat(attr.maxMsgSz()).isEqualTo(0xffff_ffffL);
    assertThat(attr.linkLayer()).isEqualTo(CValue.of(IbvPortAttr.LinkLayer.ETHERNET));
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
        .isEqualTo(IbvDeviceAttr.OdpCaps.SUPPORT | IbvDeviceAttr.OdpCaps.SUPPORT_IMPLICIT);
    device.result = EINVAL;
    assertErrno(EINVAL, context::queryDevice);
  }

  @Test
  void adviceReachesTheDevice() throws Exception {
    pd.adviseMr(
        IbvMr.Advice.PREFETCH_WRITE,
        IbvMr.AdviseFlags.FLUSH,
        new IbvSge(0x5000, 512, LKEY),
        new IbvSge(0x6000, 4096, LKEY));
    assertThat(device.calls)
        .containsExactly(Call.of("advise_mr", address(pd), 1, 1, 2, 0x6000, 4096, LKEY));

    device.operation(FakeDevice.ADVISE_MR, MemorySegment.NULL);
    assertErrno(EOPNOTSUPP, () -> pd.adviseMr(IbvMr.Advice.PREFETCH, 0));
  }

  @Test
  void operationsThatAnOlderVerbsContextLacksAreNotSupported() throws Exception {
    device.shorten(FakeDevice.QUERY_DEVICE_EX);
    assertThat(operation("ibv_query_device_ex")).isNotNull();
    assertErrno(EOPNOTSUPP, () -> operation("ibv_query_port"));
    device.shorten(FakeDevice.ADVISE_MR);
    assertThat(operation("ibv_advise_mr")).isNotNull();
    assertErrno(EOPNOTSUPP, () -> operation("ibv_query_port"));
  }

  @Test
  void withoutAVerbsContextOrAnOperationInItNothingExtendedIsSupported() throws Exception {
    device.operation(FakeDevice.QUERY_PORT, MemorySegment.NULL);
    assertErrno(EOPNOTSUPP, () -> operation("ibv_query_port"));
    device.withoutExtensions();
    assertErrno(EOPNOTSUPP, () -> operation("ibv_query_device_ex"));
  }

  @Test
  void memoryOfTheJavaHeapIsNotRegistered() {
    MemorySegment heap = MemorySegment.ofArray(new byte[8]);
    assertThatThrownBy(() -> pd.regMr(heap, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pd.regMr(heap, 0x1000, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private NativeFunction operation(String name) throws Exception {
    return device.context().operation("int " + name + "()");
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
