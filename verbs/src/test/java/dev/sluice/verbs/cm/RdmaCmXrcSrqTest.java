// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvSrqInitAttrEx;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shared receive queues of type XRC that an id creates without the caller's completion queue. */
@OnFakeAdapters
class RdmaCmXrcSrqTest {
  private static final int ENTRIES = 100;

  private FakeAdapters adapters;
  private RdmaEventChannel events;
  private RdmaCmId id;

  @BeforeEach
  void bind() throws Exception {
    adapters = FakeAdapters.reset();
    events = RdmaEventChannel.create();
    id = events.createId(RdmaCmId.PortSpace.TCP);
    id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
  }

  @AfterEach
  void close() throws Exception {
    events.close();
  }

  private IbvSrq createSrq() throws Exception {
    return id.createSrqEx(null, IbvSrqInitAttrEx.xrc(ENTRIES, 1, null, null));
  }

  @Test
  void itsReceivesCompleteInAQueueOfTheId() throws Exception {
    IbvSrq srq = createSrq();
    assertThat(id.recvQueue().cq().entries()).isEqualTo(ENTRIES);
    try (Arena arena = Arena.ofConfined()) {
      RdmaVerbs verbs = new RdmaVerbs(id, arena, 1);
      assertThat(verbs.getRecvComp(new IbvWcArray(arena, 1), 0)).isFalse();
    }
    srq.close();
    assertThat(id.recvQueue()).isNull();
    assertThat(adapters.get(0, "destroy_cq")).isEqualTo(1);
  }

  @Test
  void theQueuePairUsesTheQueueAndLeavesItOpen() throws Exception {
    createSrq();
    IbvCq queue = id.recvQueue().cq();
    IbvQpCap cap = new IbvQpCap(1, 1, 1, 1, 0);
    IbvQpInitAttr attr = new IbvQpInitAttr(IbvQp.Type.RC, null, null, null, cap, false);
    id.createQpEx(null, IbvQpInitAttrEx.of(attr, IbvQpEx.SendOps.SEND));
    assertThat(id.recvQueue().cq()).isSameAs(queue);
    id.qp().close();
    assertThat(queue.isClosed()).isFalse();
    assertThat(id.recvQueue().cq()).isSameAs(queue);
    id.close();
    assertThat(queue.isClosed()).isTrue();
  }
}
