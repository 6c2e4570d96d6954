// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.ffi.NeedsCHeader;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The binding calls a device as C's inline functions do, and returns the same results. */
@NeedsCHeader("infiniband/verbs.h")
class CInlineVerbsTest {
  private static final int LKEY = 0x1a;
  private static final int RKEY = 0x8000_0002;

  @TempDir private static Path directory;
  private static CInlineVerbs verbs;

  private final FakeDevice device = new FakeDevice();
  private final IbvContext context = device.context();
  private final MemorySegment domain = device.object(16);
  private final IbvPd pd = new IbvPd(context, domain);
  private final IbvQp qp = new IbvQp(pd, pd.context(), device.object(160), null, 0, qp -> {});
  private final IbvCq cq = new IbvCq(context, device.object(128), null);
  private final IbvSrq srq = new IbvSrq(pd, device.object(128));
  private final IbvMr mr = new IbvMr(pd, device.object(48, domain));
  private final IbvSendWrList sends = new IbvSendWrList(device.arena(), 1, 4);
  private final MemorySegment completion = device.memory(13 * Long.BYTES);

  @BeforeAll
  static void compile() throws Exception {
    verbs = new CInlineVerbs(directory, "inline_verbs.c");
  }

  @AfterEach
  void closeDevice() {
    device.close();
  }

  @Test
  void readsAndWrites() throws Exception {
    for (IbvSendWrList.Opcode opcode :
        List.of(IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Opcode.RDMA_WRITE)) {
      add(1L << 63 | 5, opcode, IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.FENCE);
      sge(0x7f12_3456_7000L, 0x8000_0000);
      sge(0x7f12_3456_8000L, 16);
      sends.rdma(0x7fff_ffff_f000L, RKEY);
      c("c_rdma", 0x7fff_ffff_f000L, RKEY);
      assertSamePosted();
    }
  }

  @Test
  void immediateData() throws Exception {
    for (IbvSendWrList.Opcode opcode :
        List.of(IbvSendWrList.Opcode.SEND_WITH_IMM, IbvSendWrList.Opcode.RDMA_WRITE_WITH_IMM)) {
      add(2, opcode, IbvSendWrList.Flags.INLINE | IbvSendWrList.Flags.SOLICITED);
      sge(0x1000, 8);
      sends.immediate(0x0102_0384);
      c("c_immediate", 0x0102_0384);
      assertSamePosted();
    }
  }

  @Test
  void invalidations() throws Exception {
    for (IbvSendWrList.Opcode opcode :
        List.of(IbvSendWrList.Opcode.SEND_WITH_INV, IbvSendWrList.Opcode.LOCAL_INV)) {
      add(3, opcode, 0);
      sends.invalidate(RKEY);
      c("c_invalidate", RKEY);
      assertSamePosted();
    }
  }

  @Test
  void atomics() throws Exception {
    for (IbvSendWrList.Opcode opcode :
        List.of(
            IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD)) {
      add(4, opcode, IbvSendWrList.Flags.SIGNALED);
      sge(0x1000, 8);
      sends.atomic(0x2000, RKEY, -2, 0x1234_5678_9abc_def0L);
      c("c_atomic", 0x2000L, RKEY, -2L, 0x1234_5678_9abc_def0L);
      assertSamePosted();
    }
  }

  @Test
  void datagrams() throws Exception {
    IbvAh ah = new IbvAh(pd, device.object(24));
    add(5, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED);
    sends.datagram(ah, 0xffffff, 0x8765_4321);
    c("c_datagram", ah.pointer(), 0xffffff, 0x8765_4321);
    assertSamePosted();
  }

  @Test
  void windowBinds() throws Exception {
    IbvMw mw = new IbvMw(pd, device.object(32, domain), IbvMw.Type.TYPE_2);
    add(6, IbvSendWrList.Opcode.BIND_MW, IbvSendWrList.Flags.SIGNALED);
    sends.bind(mw, RKEY, mr, 0x3000, 1L << 40, IbvMr.Access.REMOTE_WRITE);
    c("c_bind", mw.pointer(), RKEY, mr.pointer(), 0x3000L, 1L << 40, IbvMr.Access.REMOTE_WRITE);
    assertSamePosted();
  }

  @Test
  void receives() throws Exception {
    IbvRecvWrList recvs = new IbvRecvWrList(device.arena(), 1, 4);
    recvs.add(7).sge(0x1000, 8, LKEY).sge(0x2000, 16, LKEY);
    add(0, IbvSendWrList.Opcode.SEND, 0);
    sge(0x1000, 8);
    sge(0x2000, 16);
    qp.postRecv(recvs);
    c("c_post_recv", qp.pointer(), 7L);
    assertThat(device.recvs).hasSize(2);
    assertThat(device.recvs.get(1)).isEqualTo(device.recvs.get(0));

    srq.postRecv(recvs);
    c("c_post_srq_recv", srq.pointer(), 7L);
    assertThat(device.srqRecvs).isEqualTo(device.recvs);
  }

  @Test
  void completionsOfADeviceInJava() throws Exception {
    for (int number = 0; number < 24; number++) {
      device.completions.add(RawCompletion.numbered(number));
      assertThat(c("c_poll_cq", cq.pointer(), completion)).isEqualTo(1);
      assertThat(completion.toArray(JAVA_LONG)).isEqualTo(numbers(RawCompletion.numbered(number)));
    }
    assertThat(c("c_poll_cq", cq.pointer(), completion)).isZero();
    device.result = -1;
    assertThat(c("c_poll_cq", cq.pointer(), completion)).isEqualTo(-1);
  }

  @Test
  void completionsOfADeviceInC() throws Exception {
    c("c_set_operations", context.pointer());
    IbvCq polled = new IbvCq(device.context(), cq.pointer(), null);
    IbvWcArray array = new IbvWcArray(device.arena(), 3);
    for (int number = 0; number < 24; number++) {
      RawCompletion expected = RawCompletion.numbered(number);
      completion.copyFrom(MemorySegment.ofArray(numbers(expected)));
      c("c_complete", completion);
      assertThat(polled.poll(array)).isEqualTo(3);
      assertThat(Stream.of(0, 1, 2).map(i -> RawCompletion.read(array, i))).containsOnly(expected);
    }
  }

  @Test
  void notifications() throws Exception {
    assertSameCalls(() -> cq.requestNotify(true), () -> c("c_req_notify_cq", cq.pointer(), 1));
  }

  @Test
  void windowsOfTypeOne() throws Exception {
    assertSameCalls(
        () -> {
          IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_1);
          qp.bindMw(mw, 1, IbvSendWrList.Flags.SIGNALED, mr, 0x1000, 64, IbvMr.Access.REMOTE_READ);
          mw.close();
        },
        () -> c("c_memory_window", pd.pointer(), qp.pointer(), mr.pointer(), 0x1000L, 64L, 1 << 2));
  }

  @Test
  void keysOfWindowsCountOnInTheirLowestByte() throws Exception {
    for (int rkey : new int[] {0, 0x12ff, 0xffff_ffff, 0x7fff_ff7f}) {
      assertThat(IbvMw.nextRkey(rkey)).isEqualTo(c("c_inc_rkey", rkey));
    }
  }

  @Test
  void queries() throws Exception {
    assertSameCalls(
        () -> assertThat(context.queryPort(1).get("port_cap_flags2")).isEqualTo(0x8001),
        () -> assertThat(c("c_query_port", context.pointer(), 1)).isEqualTo(0x8001));
    assertSameCalls(
        () -> assertThat(context.queryDevice().maxQp()).isEqualTo(77),
        () -> assertThat(c("c_query_device_ex", context.pointer())).isEqualTo(77));
  }

  private void add(long wrId, IbvSendWrList.Opcode opcode, int flags) throws Exception {
    sends.clear();
    sends.add(wrId, opcode, flags);
    c("c_add", wrId, opcode.value(), flags);
  }

  private void sge(long address, int length) throws Exception {
    sends.sge(address, length, LKEY);
    c("c_sge", address, length, LKEY);
  }

  private void assertSamePosted() throws Exception {
    device.sends.clear();
    qp.postSend(sends);
    c("c_post_send", qp.pointer());
    assertThat(device.sends).hasSize(2);
    assertThat(device.sends.get(1)).isEqualTo(device.sends.get(0));
  }

  private interface Verbs {
    void call() throws Exception;
  }

  private void assertSameCalls(Verbs java, Verbs inC) throws Exception {
    device.calls.clear();
    java.call();
    List<FakeDevice.Call> calls = List.copyOf(device.calls);
    device.calls.clear();
    inC.call();
    assertThat(device.calls).isNotEmpty().isEqualTo(calls);
  }

  private static int c(String function, Object... arguments) throws Exception {
    return verbs.call(function, arguments);
  }

  private static long[] numbers(RawCompletion c) {
    return new long[] {
      c.wrId(),
      c.status(),
      c.opcode(),
      c.vendorErr(),
      c.byteLen(),
      c.immData(),
      c.qpNum(),
      c.srcQp(),
      c.wcFlags(),
      c.pkeyIndex(),
      c.slid(),
      c.sl(),
      c.dlidPathBits()
    };
  }
}
