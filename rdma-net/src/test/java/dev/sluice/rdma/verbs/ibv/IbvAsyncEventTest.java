package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Asynchronous events of ports and queue pairs, and their acknowledgement. */
@NeedsRdmaDevice
class IbvAsyncEventTest extends IbvTestCase {
  /** Waits for an event of a type; acknowledges others. */
  private IbvAsyncEvent await(IbvEventType type) throws VerbsException {
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
    assumeThat(isRxe()).as("a net device that may be taken down").isTrue();
    try {
      setLink("down");
      try (IbvAsyncEvent event = await(IbvEventType.PORT_ERR)) {
        assertThat(event.port()).isEqualTo(PORT);
        assertThat(event.text()).isEqualTo("port error");
      }
      assertThat(context.queryPort(PORT).state()).isEqualTo(IbvPortState.DOWN);
    } finally {
      setLink("up");
    }
    try (IbvAsyncEvent event = await(IbvEventType.PORT_ACTIVE)) {
      assertThat(event.port()).isEqualTo(PORT);
    }
    assertThat(context.queryPort(PORT).state()).isEqualTo(IbvPortState.ACTIVE);
  }

  private void setLink(String state) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("ip", "link", "set", netDevice(), state).inheritIO().start();
    assertThat(process.waitFor(DEADLINE_MS, TimeUnit.MILLISECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
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
    Pair pair = pair(IbvQpType.RC);
    Player client = pair.client();
    client.qp.postSend(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));

    client.qp.modify(new IbvQpAttr().state(IbvQpState.SQD).enSqdAsyncNotify(1));

    try (IbvAsyncEvent event = await(IbvEventType.SQ_DRAINED)) {
      assertThat(event.isAbout(client.qp)).isTrue();
    }
    // What the device had not begun to send waits until it may go on.
    client.qp.modify(new IbvQpAttr().state(IbvQpState.RTS));
    assertThat(client.await().status()).isEqualTo(IbvWcStatus.SUCCESS);
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
