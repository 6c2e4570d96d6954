package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EBUSY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Completion channels: who is announced, when, and how often. */
@NeedsRdmaDevice
class IbvCqEventsTest extends IbvTestCase {
  private IbvCompChannel channel;

  @BeforeEach
  void createChannel() throws VerbsException {
    channel = context.createCompChannel();
  }

  private Player announced(IbvQpType type) throws VerbsException {
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
      value = IbvQpType.class,
      names = {"RC", "UD"})
  void aHundredReceivesRaiseAHundredEvents(IbvQpType type) throws Exception {
    Player server = announced(type);
    Player client = player(type);
    connected(client, server);
    IbvAh ah = type == IbvQpType.UD ? pd.createAh(new Connection(gid).address()) : null;

    for (int i = 0; i < 100; i++) {
      server.cq.requestNotify(false);
      server.postReceive(1000);
      IbvSendWrList request = client.request(IbvWrOpcode.SEND_WITH_IMM, 100).immediate(i);
      client.succeed(
          type == IbvQpType.UD ? request.datagram(ah, server.qp.qpNum(), QKEY) : request);

      assertThat(awaitEvent()).isSameAs(server.cq);
      assertThat(server.await().immediate()).isEqualTo(i);
      assertNoEvent();
    }
  }

  @Test
  void aQueueThatIsNotArmedIsNotAnnounced() throws Exception {
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));

    client.succeed(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));

    assertNoEvent();
  }

  @Test
  void anArmedQueueIsAnnouncedOnceForManyCompletions() throws Exception {
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));
    client.cq.requestNotify(false);

    for (int i = 0; i < 5; i++) {
      client.succeed(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));
    }

    assertThat(awaitEvent()).isSameAs(client.cq);
    assertNoEvent();
  }

  @Test
  void aQueueArmedForSolicitedReceivesIsAnnouncedForThemOnly() throws Exception {
    Player server = announced(IbvQpType.RC);
    Player client = player(IbvQpType.RC);
    connected(client, server);
    server.cq.requestNotify(true);
    server.postReceive(8);
    server.postReceive(8);

    client.succeed(client.request(IbvWrOpcode.SEND, 8));
    server.await();
    assertNoEvent();

    client.succeed(
        client
            .requests()
            .add(1, IbvWrOpcode.SEND, IbvSendFlags.SIGNALED | IbvSendFlags.SOLICITED)
            .sge(client.address(0), 8, client.mr.lkey()));
    assertThat(awaitEvent()).isSameAs(server.cq);
  }

  /**
   * As verbs ask for: arm, then poll until empty, and only then wait. A completion that came before
   * the queue was armed raises no event, and is found by the poll.
   */
  @Test
  void aCompletionBeforeArmingIsFoundByThePollAfterIt() throws Exception {
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));
    client.succeed(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));
    client.qp.postSend(
        client
            .requests()
            .add(1, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED)
            .rdma(0, 0)
            .add(2, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED)
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
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));
    int taken = 0;
    for (int round = 0; round < 200; round++) {
      client.qp.postSend(
          client.requests().add(round, IbvWrOpcode.RDMA_WRITE, IbvSendFlags.SIGNALED).rdma(0, 0));
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
  void aChannelSaysWhichOfItsQueuesIsMeant() throws Exception {
    Player first = announced(IbvQpType.RC);
    Player second = announced(IbvQpType.RC);
    connected(first, second);
    second.postReceive(8);
    first.cq.requestNotify(false);
    second.cq.requestNotify(false);

    first.succeed(first.request(IbvWrOpcode.SEND, 8));

    assertThat(List.of(awaitEvent(), awaitEvent())).containsExactlyInAnyOrder(first.cq, second.cq);
  }

  /** rxe announces errors like other completions that are not solicited: not at all. */
  @Test
  void anErrorIsAnnouncedToWhoWaitsForSolicitedReceives() throws Exception {
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));
    client.cq.requestNotify(true);

    Completion failed = client.complete(client.request(IbvWrOpcode.RDMA_READ, 8).rdma(0, 1));

    assertThat(failed.status()).isEqualTo(IbvWcStatus.REM_ACCESS_ERR);
    if (isRxe()) {
      assertNoEvent();
    } else {
      assertThat(awaitEvent()).isSameAs(client.cq);
    }
  }

  @Test
  void aQueueWithEventsThatNobodyAcknowledgedCanBeClosed() throws Exception {
    Player client = announced(IbvQpType.RC);
    connected(client, player(IbvQpType.RC));
    client.cq.requestNotify(false);
    client.succeed(client.request(IbvWrOpcode.RDMA_WRITE).rdma(0, 0));
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
