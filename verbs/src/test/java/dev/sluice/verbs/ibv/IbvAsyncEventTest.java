// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Asynchronous events of ports and queue pairs, and their acknowledgement. */
@NeedsRdmaDevice
class IbvAsyncEventTest extends IbvTestCase {
  private IbvAsyncEvent await(IbvAsyncEvent.Type type) throws VerbsException {
    return await(context, type);
  }

  /** Waits for an event of a type; acknowledges other events. */
  private static IbvAsyncEvent await(IbvContext context, IbvAsyncEvent.Type type)
      throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (true) {
      assertThat(System.nanoTime()).as("deadline for %s", type).isLessThan(deadline);
      IbvAsyncEvent event = context.awaitAsyncEvent(DEADLINE_MS).orElseThrow();
      if (event.type().is(type)) {
        return event;
      }
      event.close();
    }
  }

  @Test
  void nothingHappensToAnIdleDevice() throws Exception {
    assertThat(context.awaitAsyncEvent(0)).isEmpty();
  }

  @Test
  void aPortThatGoesDownAndUpRaisesItsEvents() throws Exception {
    assumeThat(isRxe()).as("soft-RoCE devices can be made").isTrue();
    try (SoftDevice device = new SoftDevice();
        IbvContext opened = device.open()) {
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortAttr.State.ACTIVE));

      device.setLink("down");
      try (IbvAsyncEvent event = await(opened, IbvAsyncEvent.Type.PORT_ERR)) {
        assertThat(event.port()).isEqualTo(PORT);
        assertThat(event.text()).isEqualTo("port error");
      }
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortAttr.State.DOWN));

      device.setLink("up");
      try (IbvAsyncEvent event = await(opened, IbvAsyncEvent.Type.PORT_ACTIVE)) {
        assertThat(event.port()).isEqualTo(PORT);
      }
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortAttr.State.ACTIVE));
    }
  }

  @Test
  void anAccessErrorIsToldToTheResponder() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);
    pair.client()
        .complete(
            pair.client()
                .request(IbvSendWrList.Opcode.RDMA_READ, 8)
                .rdma(pair.server().mr.address() + MEMORY_BYTES, pair.server().mr.rkey()));

    try (IbvAsyncEvent event = await(IbvAsyncEvent.Type.QP_ACCESS_ERR)) {
      assertThat(event.isAbout(pair.server().qp)).isTrue();
      assertThat(event.isAbout(pair.client().qp)).isFalse();
      assertThat(event.text()).isEqualTo("local access violation work queue error");
    }
  }

  @Test
  void aDrainedSendQueueRaisesItsEvent() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));

    client.qp.modify(new IbvQpAttr().state(IbvQp.State.SQD).enSqdAsyncNotify(1));

    try (IbvAsyncEvent event = await(IbvAsyncEvent.Type.SQ_DRAINED)) {
      assertThat(event.isAbout(client.qp)).isTrue();
    }
  }

  /** rxe resumes when there is something more to send. */
  @Test
  void requestsPostedToADrainedSendQueueWaitForRts() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.qp.modify(new IbvQpAttr().state(IbvQp.State.SQD).enSqdAsyncNotify(1));
    await(IbvAsyncEvent.Type.SQ_DRAINED).close();
    client.qp.postSend(
        client
            .requests()
            .add(1, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0));

    client.qp.modify(new IbvQpAttr().state(IbvQp.State.RTS));
    client.qp.postSend(
        client
            .requests()
            .add(2, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0));

    assertThat(client.await(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
  }

  @Test
  void theLastReceiveOfASharedQueueIsTold() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    IbvCq cq = context.createCq(16);
    IbvQp qp = pd.createQp(new IbvQpInitAttr(IbvQp.Type.RC, cq, cq, srq, CAP, false));
    new Connection(gid).connect(qp, qp);

    qp.modify(new IbvQpAttr().state(IbvQp.State.ERR));

    try (IbvAsyncEvent event = await(IbvAsyncEvent.Type.QP_LAST_WQE_REACHED)) {
      assertThat(event.isAbout(qp)).isTrue();
    }
  }

  @Test
  void aQueueThatRunsOverIsInError() throws Exception {
    IbvCq cq = context.createCq(1);
    Player client = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP));
    connected(client, player(IbvQp.Type.RC));
    IbvSendWrList requests = client.requests();
    for (int i = 0; i < CAP.maxSendWr(); i++) {
      requests.add(i, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED).rdma(0, 0);
    }

    client.qp.postSend(requests);

    try (IbvAsyncEvent event = await(IbvAsyncEvent.Type.CQ_ERR)) {
      assertThat(event.isAbout(cq)).isTrue();
    }
  }

  @Test
  void acknowledgingTwiceDoesNothing() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.qp.modify(new IbvQpAttr().state(IbvQp.State.SQD).enSqdAsyncNotify(1));
    IbvAsyncEvent event = await(IbvAsyncEvent.Type.SQ_DRAINED);

    event.close();
    event.close();
    client.qp.close();
  }
}
