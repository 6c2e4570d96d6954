// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The binding refuses arguments that the C libraries and drivers dereference unchecked. A null
 * pointer or freed memory there would end the JVM.
 */
class NullPointersTest {
  private static final IbvQpCap CAP = new IbvQpCap(1, 1, 1, 1, 0);
  private static final int QP_TYPE = 60;

  private final FakeDevice device = new FakeDevice();
  private final IbvContext context = device.context();
  private final IbvPd pd = new IbvPd(context, device.object(16));
  private final IbvQp qp = new IbvQp(pd, pd.context(), device.object(160), null, 0, qp -> {});
  private final IbvCq cq = new IbvCq(context, device.object(128), null);
  private final IbvMr mr = new IbvMr(pd, device.object(48));
  private final MemorySegment struct = IbvStructs.QP_INIT_ATTR.allocate(device.arena());
  private final IbvSendWrList sends = new IbvSendWrList(device.arena(), 2, 1);

  @AfterEach
  void close() throws VerbsException {
    device.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UC", "UD", "RAW_PACKET", "XRC_SEND", "DRIVER"})
  void aQueuePairNeedsACompletionQueueToSend(IbvQp.Type type) {
    assertRefused(() -> new IbvQpInitAttr(type, null, cq, null, CAP, false).write(struct), "send");
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UC", "UD", "RAW_PACKET", "DRIVER"})
  void aQueuePairNeedsACompletionQueueToReceive(IbvQp.Type type) {
    assertRefused(
        () -> new IbvQpInitAttr(type, cq, null, null, CAP, false).write(struct), "receive");
  }

  @Test
  void queuePairsOfXrcNeedFewer() throws Exception {
    new IbvQpInitAttr(IbvQp.Type.XRC_RECV, null, null, null, CAP, false).write(struct);
    new IbvQpInitAttr(IbvQp.Type.XRC_SEND, cq, null, null, CAP, false).write(struct);
  }

  @Test
  void aBindNeedsItsRegion() throws Exception {
    IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_2);
    sends.add(1, IbvSendWrList.Opcode.BIND_MW, 0);
    assertThatThrownBy(() -> sends.bind(mw, 1, null, 0, 1, 0))
        .isInstanceOf(NullPointerException.class);
    assertRefused(() -> qp.postSend(sends), "or the region");
    assertThat(device.sends).isEmpty();
  }

  @Test
  void aCompletionWithTheFlagNeedsItsHeader() throws Exception {
    device.completions.add(new RawCompletion(1, 0, 128, 0, 0, 0, 0, 0, IbvWcArray.Flags.GRH));
    IbvWcArray array = new IbvWcArray(device.arena(), 1);
    cq.poll(array);
    assertRefused(() -> context.initAhFromWc(1, array, 0, null), "no header was given");
    assertRefused(() -> pd.createAhFromWc(array, 0, null, 1), "no header was given");
  }

  @Test
  void aRegionNeedsTheDomainThatItChangesTo() {
    assertRefused(
        () -> mr.rereg(IbvMr.Rereg.CHANGE_PD, null, null, 0), "no protection domain was given");
  }

  @Test
  void aQueuePairThatOnlyReceivesPostsNoSendAndNoBind() throws Exception {
    IbvQp receiver = ofType(IbvQp.Type.XRC_RECV);
    sends.add(1, IbvSendWrList.Opcode.SEND, 0);
    assertRefused(() -> receiver.postSend(sends), "no send queue");
    IbvMw mw = pd.allocMw(IbvMw.Type.TYPE_1);
    assertRefused(() -> receiver.bindMw(mw, 1, 0, mr, 0, 1, 0), "no send queue");
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"XRC_SEND", "XRC_RECV"})
  void aQueuePairOfXrcPostsNoReceive(IbvQp.Type type) throws Exception {
    IbvRecvWrList receives = new IbvRecvWrList(device.arena(), 1, 1);
    receives.add(1);
    assertRefused(() -> ofType(type).postRecv(receives), "no receive queue");
  }

  private IbvQp ofType(IbvQp.Type type) {
    MemorySegment struct = device.object(160);
    struct.set(JAVA_INT, QP_TYPE, type.value());
    return new IbvQp(pd, pd.context(), struct, null, 0, qp -> {});
  }

  @Test
  void memoryOfTheHeapHasNoAddressForC() {
    MemorySegment heap = MemorySegment.ofArray(new byte[8]);
    assertThatThrownBy(() -> IbvSge.of(heap, null)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aListHasNoNegativeRoom() {
    assertThatThrownBy(() -> new IbvSendWrList(device.arena(), 4, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aListOfPiecesEndsWithItsArena() {
    IbvSgeList pieces;
    try (Arena arena = Arena.ofConfined()) {
      pieces = new IbvSgeList(arena, 1).add(1, 2, 3);
    }
    assertThatThrownBy(pieces::address).isInstanceOf(IllegalStateException.class);
  }

  private static void assertRefused(ThrowingCallable call, String reason) {
    assertThatThrownBy(call)
        .hasMessageContaining(reason)
        .asInstanceOf(type(VerbsException.class))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(EINVAL));
  }
}
