// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Completion channels: which queues announce completions, when, and how often. */
@NeedsRdmaDevice
class IbvCqEventsTest extends IbvTestCase {
  private IbvCompChannel channel;

  @BeforeEach
  void createChannel() throws VerbsException {
    channel = context.createCompChannel();
  }

  private Player announced(IbvQp.Type type) throws VerbsException {
    return player(pd, IbvQpInitAttr.of(type, context.createCq(64, channel, 0), CAP));
  }

  private IbvCq awaitEvent() throws VerbsException {
    IbvCq cq = channel.awaitEvent(DEADLINE_MS).orElseThrow();
    cq.acknowledgeEvents();
    return cq;
  }

  private void assertNoEvent() throws VerbsException {
    assertThat(channel.awaitEvent(0)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UD"})
  void aHundredReceivesRaiseAHundredEvents(IbvQp.Type type) throws Exception {
    Player server = announced(type);
    Player client = player(type);
    connected(client, server);
    IbvAh ah = type == IbvQp.Type.UD ? pd.createAh(new Connection(gid).address()) : null;

    for (int i = 0; i < 100; i++) {
      server.cq.requestNotify(false);
      server.postReceive(1000);
      IbvSendWrList request = client.request(IbvSendWrList.Opcode.SEND_WITH_IMM, 100).immediate(i);
      client.succeed(
          type == IbvQp.Type.UD ? request.datagram(ah, server.qp.qpNum(), QKEY) : request);

      assertThat(awaitEvent()).isSameAs(server.cq);
      assertThat(server.await().immediate()).isEqualTo(i);
      assertNoEvent();
    }
  }

  @Test
  void aQueueThatIsNotArmedIsNotAnnounced() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));

    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));

    assertNoEvent();
  }

  @Test
  void anArmedQueueIsAnnouncedOnceForManyCompletions() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));
    client.cq.requestNotify(false);

    for (int i = 0; i < 5; i++) {
      client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));
    }

    assertThat(awaitEvent()).isSameAs(client.cq);
    assertNoEvent();
  }

  @Test
  void aQueueArmedForSolicitedReceivesIsAnnouncedForThemOnly() throws Exception {
    Player server = announced(IbvQp.Type.RC);
    Player client = player(IbvQp.Type.RC);
    connected(client, server);
    server.cq.requestNotify(true);
    server.postReceive(8);
    server.postReceive(8);

    client.succeed(client.request(IbvSendWrList.Opcode.SEND, 8));
    server.await();
    assertNoEvent();

    client.succeed(
        client
            .requests()
            .add(
                1,
                IbvSendWrList.Opcode.SEND,
                IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.SOLICITED)
            .sge(client.address(0), 8, client.mr.lkey()));
    assertThat(awaitEvent()).isSameAs(server.cq);
  }

  /**
   * The order that verbs require: arm, then poll until empty, and only then wait. A completion that
   * precedes the arming raises no event; the poll finds it.
   */
  @Test
  void aCompletionBeforeArmingIsFoundByThePollAfterIt() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));
    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));
    client.qp.postSend(
        client
            .requests()
            .add(1, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0)
            .add(2, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0));
    assertThat(client.await().wrId()).isEqualTo(1);

    client.cq.requestNotify(false);

    if (client.poll(1).isEmpty()) {
      awaitEvent();
      assertThat(client.await().wrId()).isEqualTo(2);
    }
  }

  @Test
  void noneOfManyCompletionsIsLostBetweenPollingAndArming() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));
    int taken = 0;
    for (int round = 0; round < 200; round++) {
      client.qp.postSend(
          client
              .requests()
              .add(round, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
              .rdma(0, 0));
      client.cq.requestNotify(false);
      List<Completion> completions = client.poll(64);
      while (completions.isEmpty()) {
        awaitEvent();
        client.cq.requestNotify(false);
        completions = client.poll(64);
      }
      taken += completions.size();
    }

    assertThat(taken).isEqualTo(200);
  }

  @Test
  void aChannelReturnsTheQueueOfAnEvent() throws Exception {
    Player first = announced(IbvQp.Type.RC);
    Player second = announced(IbvQp.Type.RC);
    connected(first, second);
    second.postReceive(8);
    first.cq.requestNotify(false);
    second.cq.requestNotify(false);

    first.succeed(first.request(IbvSendWrList.Opcode.SEND, 8));

    assertThat(List.of(awaitEvent(), awaitEvent())).containsExactlyInAnyOrder(first.cq, second.cq);
  }

  /** rxe treats errors like unsolicited completions: it does not announce them. */
  @Test
  void anErrorIsAnnouncedToWaitersForSolicitedReceives() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));
    client.cq.requestNotify(true);

    Completion failed =
        client.complete(client.request(IbvSendWrList.Opcode.RDMA_READ, 8).rdma(0, 1));

    assertThat(failed.status()).isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
    if (isRxe()) {
      assertNoEvent();
    } else {
      assertThat(awaitEvent()).isSameAs(client.cq);
    }
  }

  @Test
  void aQueueWithUnacknowledgedEventsCanBeClosed() throws Exception {
    Player client = announced(IbvQp.Type.RC);
    connected(client, player(IbvQp.Type.RC));
    client.cq.requestNotify(false);
    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));
    assertThat(channel.awaitEvent(DEADLINE_MS)).contains(client.cq);

    client.qp.close();
    client.cq.close();

    assertThat(client.cq.isClosed()).isTrue();
  }

  @Test
  void aChannelInUseCannotBeClosed() throws Exception {
    IbvCq cq = context.createCq(16, channel, 0);

    assertRefused(EBUSY, channel::close);
    cq.close();
    channel.close();
    channel.close();
  }

  @Test
  void aNonBlockingChannelWithoutAnEventGivesNone() throws Exception {
    channel.setNonBlocking();

    assertThat(channel.getEvent()).isEmpty();
  }
}
