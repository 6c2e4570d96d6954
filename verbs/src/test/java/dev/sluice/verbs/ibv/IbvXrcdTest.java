// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static dev.sluice.verbs.ibv.IbvTestCase.assertRefused;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.ffi.NeedsCHeader;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** XRC, and the extended attributes of queue pairs, reach a driver in C. */
@NeedsCHeader("infiniband/verbs.h")
class IbvXrcdTest {
  @TempDir private static Path directory;
  private static CInlineVerbs verbs;

  private final FakeDevice device = new FakeDevice();
  private final IbvContext context = device.context();
  private final MemorySegment domain = device.object(16);
  private final IbvPd pd = new IbvPd(context, domain);
  private final MemorySegment queue = device.object(128);
  private final IbvCq cq = new IbvCq(context, queue, null);

  @BeforeAll
  static void compile() throws Exception {
    verbs = new CInlineVerbs(directory, "extended_verbs.c");
  }

  @BeforeEach
  void fill() throws Exception {
    verbs.call("c_fill_context", context.pointer());
    verbs.call("c_fail", 0);
    notes();
  }

  @AfterEach
  void closeDevice() {
    device.close();
  }

  @Test
  void aDomainIsOpenedAndClosed() throws Exception {
    IbvXrcd xrcd = context.openXrcd(-1, 64);
    assertThat(notes()).containsExactly(40, 3, -1, 64, 0);
    verbs.call("c_fail", EBUSY);
    assertRefused(EBUSY, xrcd::close);
    verbs.call("c_fail", 0);
    notes();
    xrcd.close();
    assertThat(notes()).containsExactly(41, 1, 0, 0, 0);
    assertRefused(EINVAL, () -> xrcd.openQp(1));
  }

  @Test
  void anOperationIsLinkedOnce() throws Exception {
    String declaration = "int ibv_close_xrcd(ptr xrcd)";
    assertThat(context.operation(declaration)).isSameAs(context.operation(declaration));
  }

  @Test
  void aSharedReceiveQueueHasItsDomainAndNumber() throws Exception {
    IbvXrcd xrcd = context.openXrcd(-1, 64);
    notes();
    IbvSrq srq = pd.createSrqEx(IbvSrqInitAttrEx.xrc(5, 2, xrcd, cq));
    assertThat(notes())
        .containsExactly(42, 15, 1, 5, 2, 42, 1, domain.address(), queue.address(), 0);
    assertThat(srq.srqNum()).isEqualTo(0x123456);
    pd.createSrqEx(new IbvSrqInitAttrEx(IbvSrq.Type.TM, 5, 2, null, cq, 3, 7));
    assertThat(notes())
        .containsExactly(42, 27, 2, 5, 2, 42, 0, domain.address(), queue.address(), 3 << 16 | 7);
  }

  @Test
  void aReceivingQueuePairBelongsToTheDomain() throws Exception {
    IbvXrcd xrcd = context.openXrcd(-1, 64);
    notes();
    IbvQpCap none = new IbvQpCap(0, 0, 0, 0, 0);
    IbvQpInitAttr attr = new IbvQpInitAttr(IbvQp.Type.XRC_RECV, null, null, null, none, false);
    xrcd.createQpEx(IbvQpInitAttrEx.of(attr, 0));
    assertThat(notes()).containsExactly(43, 2, 10, 1, 0, 43, 0, 0, 0, 0);
    xrcd.openQp(77);
    assertThat(notes()).containsExactly(44, 11, 77, 1, 10);
    verbs.call("c_fail", EINVAL);
    assertRefused(EINVAL, () -> xrcd.openQp(78));
  }

  @Test
  void aSendingQueuePairBelongsToAProtectionDomain() throws Exception {
    IbvQpInitAttr attr =
        new IbvQpInitAttr(IbvQp.Type.XRC_SEND, cq, cq, null, new IbvQpCap(6, 0, 1, 0, 0), false);
    int flags = IbvQpInitAttrEx.CreateFlags.SOURCE_QPN;
    pd.createQpEx(new IbvQpInitAttrEx(attr, IbvQpEx.SendOps.SEND, flags, 9));
    assertThat(notes()).containsExactly(43, 1 | 4 | 64, 9, 0, domain.address(), 43, 4, flags, 9, 6);
  }

  @Test
  void aRequestNamesTheReceiveQueueOfThePeer() throws Exception {
    IbvSendWrList sends = new IbvSendWrList(device.arena(), 1, 1);
    sends.add(1, IbvSendWrList.Opcode.SEND, 0).xrc(0xabcdef);
    new IbvQp(pd, pd.context(), device.object(160), null, 0, qp -> {}).postSend(sends);
    assertThat(device.sends.getFirst().words().get(72 / Integer.BYTES)).isEqualTo(0xabcdef);
  }

  @Test
  void eceIsReadAsItIsWritten() {
    MemorySegment struct = new IbvEce(1, -2, 3).write(device.arena());
    assertThat(struct.asSlice(0, 12).toArray(JAVA_INT)).containsExactly(1, -2, 3);
    assertThat(IbvEce.read(struct)).isEqualTo(new IbvEce(1, -2, 3));
  }

  @Test
  void aDriverWithoutThemRefuses() {
    try (FakeDevice plain = new FakeDevice()) {
      IbvContext context = plain.context();
      IbvPd pd = new IbvPd(context, plain.object(16));
      IbvQpInitAttr attr = IbvQpInitAttr.of(IbvQp.Type.RC, cq, new IbvQpCap(1, 1, 1, 1, 0));
      assertRefused(EOPNOTSUPP, () -> context.openXrcd(-1, 64));
      assertRefused(EOPNOTSUPP, () -> pd.createQpEx(IbvQpInitAttrEx.of(attr, 1)));
      assertRefused(EOPNOTSUPP, () -> pd.createSrqEx(IbvSrqInitAttrEx.xrc(1, 1, null, cq)));
      assertRefused(EOPNOTSUPP, () -> context.createCqEx(IbvCqInitAttrEx.of(1, 0)));
    }
  }

  private long[] notes() throws Exception {
    MemorySegment into = device.memory(256 * Long.BYTES);
    int count = verbs.call("c_take_notes", into);
    return into.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
  }
}
