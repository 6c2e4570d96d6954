package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Asynchronous events of ports and queue pairs, and their acknowledgement. */
@NeedsRdmaDevice
class IbvAsyncEventTest extends IbvTestCase {
  private IbvAsyncEvent await(IbvEventType type) throws VerbsException {
    return await(context, type);
  }

  /** Waits for an event of a type; acknowledges others. */
  private static IbvAsyncEvent await(IbvContext context, IbvEventType type) throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (true) {
      assertThat(System.nanoTime()).as("deadline for %s", type).isLessThan(deadline);
      IbvAsyncEvent event = context.awaitAsyncEvent(DEADLINE_MS).orElseThrow();
      if (event.type() == type) {
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
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortState.ACTIVE));

      device.setLink("down");
      try (IbvAsyncEvent event = await(opened, IbvEventType.PORT_ERR)) {
        assertThat(event.port()).isEqualTo(PORT);
        assertThat(event.text()).isEqualTo("port error");
      }
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortState.DOWN));

      device.setLink("up");
      try (IbvAsyncEvent event = await(opened, IbvEventType.PORT_ACTIVE)) {
        assertThat(event.port()).isEqualTo(PORT);
      }
      assertThat(opened.queryPort(PORT).state()).isEqualTo(CValue.of(IbvPortState.ACTIVE));
    }
  }

  @Test
  void anAccessErrorIsToldToTheResponder() throws Exception {
    Pair pair = pair(IbvQpType.RC);
    pair.client()
        .complete(
            pair.client()
                .request(IbvWrOpcode.RDMA_READ, 8)
                .rdma(pair.server().mr.address() + MEMORY_BYTES, pair.server().mr.rkey()));

    try (IbvAsyncEvent event = await(IbvEventType.QP_ACCESS_ERR)) {
      assertThat(event.isAbout(pair.server().qp)).isTrue();
      assertThat(event.isAbout(pair.client().qp)).isFalse();
      assertThat(event.text()).isEqualTo("local access violation work queue error");
    }
  }

  @Test
  void aDrainedSendQueueRaisesItsEvent() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.succeed(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));

    client.qp.modify(new IbvQpAttr().state(IbvQpState.SQD).enSqdAsyncNotify(1));

    try (IbvAsyncEvent event = await(IbvEventType.SQ_DRAINED)) {
      assertThat(event.isAbout(client.qp)).isTrue();
    }
  }

  /** rxe goes on when there is something more to send. */
  @Test
  void whatIsPostedToADrainedSendQueueWaitsForRts() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.qp.modify(new IbvQpAttr().state(IbvQpState.SQD).enSqdAsyncNotify(1));
    await(IbvEventType.SQ_DRAINED).close();
    client.qp.postSend(
        client.requests().add(1, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED).rdma(0, 0));

    client.qp.modify(new IbvQpAttr().state(IbvQpState.RTS));
    client.qp.postSend(
        client.requests().add(2, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED).rdma(0, 0));

    assertThat(client.await(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
  }

  @Test
  void theLastReceiveOfASharedQueueIsTold() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    IbvCq cq = context.createCq(16);
    IbvQp qp = pd.createQp(new IbvQpInitAttr(IbvQpType.RC, cq, cq, srq, CAP, false));
    new Connection(gid).connect(qp, qp);

    qp.modify(new IbvQpAttr().state(IbvQpState.ERR));

    try (IbvAsyncEvent event = await(IbvEventType.QP_LAST_WQE_REACHED)) {
      assertThat(event.isAbout(qp)).isTrue();
    }
  }

  @Test
  void aQueueThatRunsOverIsInError() throws Exception {
    IbvCq cq = context.createCq(1);
    Player client = player(pd, IbvQpInitAttr.of(IbvQpType.RC, cq, CAP));
    connected(client, player(IbvQpType.RC));
    IbvSendWrList requests = client.requests();
    for (int i = 0; i < CAP.maxSendWr(); i++) {
      requests.add(i, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED).rdma(0, 0);
    }

    client.qp.postSend(requests);

    try (IbvAsyncEvent event = await(IbvEventType.CQ_ERR)) {
      assertThat(event.isAbout(cq)).isTrue();
    }
  }

  @Test
  void acknowledgingTwiceDoesNothing() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.qp.modify(new IbvQpAttr().state(IbvQpState.SQD).enSqdAsyncNotify(1));
    IbvAsyncEvent event = await(IbvEventType.SQ_DRAINED);

    event.close();
    event.close();
    client.qp.close();
  }
}
