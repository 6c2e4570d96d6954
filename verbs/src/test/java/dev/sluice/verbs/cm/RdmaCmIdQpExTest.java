// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvSrq;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Queue pairs that an id creates with extended attributes. */
@OnFakeAdapters
class RdmaCmIdQpExTest {
  @Test
  void extendedQueuePairsOfAnIdHaveTheWorkRequestApi() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    IbvQpInitAttr init =
        new IbvQpInitAttr(IbvQp.Type.RC, null, null, null, new IbvQpCap(1, 1, 1, 1, 0), false);
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      id.createQpEx(null, IbvQpInitAttrEx.of(init, IbvQpEx.SendOps.SEND));
      IbvQpEx ex = id.qp().toQpEx();
      ex.send();
      assertThat(adapters.get(0, "wr_send")).isEqualTo(1);
      assertThatThrownBy(() -> ex.rdmaRead(1, 0))
          .hasMessageContaining("created without this function");
    }
  }

  @Test
  void eachQueuePairHasCompletionQueuesOfItsSize() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      id.createQpEx(null, ofEntries(2)).close();
      assertThat(id.sendQueue()).isNull();
      adapters.set(0, "create_qp_ex_error", VerbsException.ENOMEM);
      assertThatThrownBy(() -> id.createQpEx(null, ofEntries(3)))
          .isInstanceOf(VerbsException.class);
      adapters.set(0, "create_qp_ex_error", 0);
      id.createQpEx(null, ofEntries(100));
      assertThat(id.sendQueue().cq().entries()).isEqualTo(100);
      assertThat(id.recvQueue().cq().entries()).isEqualTo(100);
      assertThat(adapters.get(0, "destroy_cq")).isEqualTo(4);
    }
  }

  @Test
  void anIdHasOneQueuePairAtATime() throws Exception {
    FakeAdapters.reset();
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      IbvQp first = id.createQpEx(null, ofEntries(2));
      assertThatThrownBy(() -> id.createQpEx(null, ofEntries(2)))
          .hasMessageContaining("it has a queue pair already");
      assertThat(id.qp()).isSameAs(first);
      assertThat(id.sendQueue().cq().isClosed()).isFalse();
    }
  }

  @Test
  void anIdHasOneSharedReceiveQueueAtATime() throws Exception {
    FakeAdapters.reset();
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      IbvSrq first = id.createSrq(null, 1, 1);
      assertThatThrownBy(() -> id.createSrq(null, 1, 1))
          .hasMessageContaining("it has a shared receive queue already");
      assertThat(id.srq()).isSameAs(first);
      first.close();
      id.createSrq(null, 1, 1);
    }
  }

  /** As after ibv_attach_mcast(3). */
  @Test
  void aQueuePairThatTheDeviceRefusesToDestroyStaysOpen() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      IbvQp qp = id.createQpEx(null, ofEntries(2));
      adapters.set(0, "destroy_qp_error", VerbsException.EBUSY);
      assertIsBusy(qp);
      assertIsBusy(id);
      assertThat(id.qp()).isSameAs(qp);
      assertThat(id.sendQueue().cq().isClosed()).isFalse();
      adapters.set(0, "destroy_qp_error", 0);
      qp.close();
      assertThat(adapters.get(0, "destroy_qp")).isEqualTo(1);
      id.createQpEx(null, ofEntries(2));
    }
    assertThat(adapters.get(0, "destroy_qp")).isEqualTo(2);
  }

  /** As while a queue pair of another id uses it. */
  @Test
  void aSharedReceiveQueueThatTheDeviceRefusesToDestroyStaysOpen() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    try (RdmaEventChannel events = RdmaEventChannel.create();
        RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP)) {
      id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
      IbvSrq srq = id.createSrq(null, 1, 1);
      adapters.set(0, "destroy_srq_error", VerbsException.EBUSY);
      assertIsBusy(srq);
      assertIsBusy(id);
      assertThat(id.srq()).isSameAs(srq);
      adapters.set(0, "destroy_srq_error", 0);
      srq.close();
      assertThat(adapters.get(0, "destroy_srq")).isEqualTo(1);
      id.createSrq(null, 1, 1);
    }
    assertThat(adapters.get(0, "destroy_srq")).isEqualTo(2);
  }

  private static void assertIsBusy(NativeObject object) {
    assertThatThrownBy(object::close)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EBUSY));
    assertThat(object.isClosed()).isFalse();
  }

  @Test
  void aQueuePairAndItsIdCloseAtTheSameTime() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    RdmaEventChannel events = RdmaEventChannel.create(); // after a deadlock it cannot be closed
    RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP);
    id.bind(new InetSocketAddress(IpLiteral.parse("10.0.0.1"), 0));
    IbvQp qp = id.createQpEx(null, ofEntries(2));
    adapters.set(0, "destroy_qp_hangs", 1);
    Thread closesQp = closing(qp);
    await(() -> adapters.get(0, "is_destroying_qp") == 1);
    Thread closesId = closing(id);
    await(() -> closesId.getState() == Thread.State.BLOCKED);
    adapters.set(0, "destroy_qp_hangs", 0);
    assertThat(closesQp.join(Duration.ofSeconds(10))).isTrue();
    assertThat(closesId.join(Duration.ofSeconds(10))).isTrue();
    assertThat(id.isClosed()).isTrue();
    events.close();
  }

  private static Thread closing(NativeObject object) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                object.close();
              } catch (VerbsException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.call()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  private static IbvQpInitAttrEx ofEntries(int entries) {
    IbvQpCap cap = new IbvQpCap(entries, entries, 1, 1, 0);
    return IbvQpInitAttrEx.of(
        new IbvQpInitAttr(IbvQp.Type.RC, null, null, null, cap, false), IbvQpEx.SendOps.SEND);
  }
}
