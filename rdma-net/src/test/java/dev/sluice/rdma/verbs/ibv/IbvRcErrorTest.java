package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How requests of a reliable connection fail, and what that does to both ends. */
@NeedsRdmaDevice
class IbvRcErrorTest extends IbvTestCase {
  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQpType.RC);
    client = pair.client();
    server = pair.server();
  }

  private IbvSendWrList read(long remoteAddress, int rkey) {
    return client.request(IbvWrOpcode.RDMA_READ, 64).rdma(remoteAddress, rkey);
  }

  private void assertFails(IbvWcStatus status, IbvSendWrList request) throws VerbsException {
    assertThat(client.complete(request).status()).isEqualTo(status);
    assertThat(client.qp.queryState()).isEqualTo(IbvQpState.ERR);
  }

  /**
   * As {@link #assertFails}, for what goes wrong at the requester: rxe of kernel 7.3 reports a
   * request that it could not begin like those behind it.
   */
  private void assertFailsLocally(IbvWcStatus status, IbvSendWrList request) throws VerbsException {
    IbvWcStatus actual = client.complete(request).status();
    assertThat(actual).isIn(status, isRxe() ? IbvWcStatus.WR_FLUSH_ERR : status);
    assertThat(client.qp.queryState()).isEqualTo(IbvQpState.ERR);
  }

  @Test
  void aKeyThatNobodyGaveIsARemoteAccessError() throws Exception {
    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(server.mr.address(), server.mr.rkey() + 1));
  }

  @Test
  void theBytesBehindARegionAreARemoteAccessError() throws Exception {
    long end = server.mr.address() + server.mr.length();

    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(end - 63, server.mr.rkey()));
  }

  @Test
  void theBytesBeforeARegionAreARemoteAccessError() throws Exception {
    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(server.mr.address() - 1, server.mr.rkey()));
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvWrOpcode.class,
      names = {"RDMA_READ", "RDMA_WRITE"})
  void aRegionWithoutTheRightIsARemoteAccessError(IbvWrOpcode opcode) throws Exception {
    IbvMr local = pd.regMr(server.memory, IbvAccess.LOCAL_WRITE);

    assertFails(
        IbvWcStatus.REM_ACCESS_ERR, client.request(opcode, 64).rdma(local.address(), local.rkey()));
  }

  @Test
  void aRegionThatWasDeregisteredIsARemoteAccessError() throws Exception {
    server.mr.close();

    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(server.memory.address(), keyAfterClose()));
  }

  /** The key of a region that is registered and closed. */
  private int keyAfterClose() throws VerbsException {
    IbvMr mr = pd.regMr(server.memory, ALL_ACCESS);
    int rkey = mr.rkey();
    mr.close();
    return rkey;
  }

  @Test
  void aRegionOfAnotherProtectionDomainIsARemoteAccessError() throws Exception {
    IbvMr foreign = context.allocPd().regMr(server.memory, ALL_ACCESS);

    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(foreign.address(), foreign.rkey()));
  }

  @Test
  void aLocalKeyThatNobodyGaveIsALocalProtectionError() throws Exception {
    assertFailsLocally(
        IbvWcStatus.LOC_PROT_ERR,
        client.request(IbvWrOpcode.SEND).sge(client.address(0), 8, client.mr.lkey() + 1));
  }

  @Test
  void aQueuePairWithoutTheRightRefusesReads() throws Exception {
    Player forbidding = player(IbvQpType.RC);
    Player reader = player(IbvQpType.RC);
    new Connection(gid).access(IbvAccess.REMOTE_WRITE).connect(forbidding.qp, reader.qp);
    new Connection(gid).connect(reader.qp, forbidding.qp);

    assertThat(
            reader
                .complete(
                    reader
                        .request(IbvWrOpcode.RDMA_READ, 8)
                        .rdma(forbidding.mr.address(), forbidding.mr.rkey()))
                .status())
        .isEqualTo(IbvWcStatus.REM_INV_REQ_ERR);
  }

  /** rxe calls the receive malformed, which verbs have other statuses for. */
  @Test
  void aReceiveThatIsTooShortFailsAtBothEnds() throws Exception {
    server.postReceive(8);

    assertFails(
        isRxe() ? IbvWcStatus.REM_OP_ERR : IbvWcStatus.REM_INV_REQ_ERR,
        client.request(IbvWrOpcode.SEND, 9));
    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcStatus.LOC_QP_OP_ERR : IbvWcStatus.LOC_LEN_ERR);
  }

  /** Here too. */
  @Test
  void aReceiveWithAKeyThatNobodyGaveFailsAtBothEnds() throws Exception {
    server.qp.postRecv(server.receives().add(1).sge(server.address(0), 8, server.mr.lkey() + 1));

    assertFails(IbvWcStatus.REM_OP_ERR, client.request(IbvWrOpcode.SEND, 8));
    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcStatus.LOC_QP_OP_ERR : IbvWcStatus.LOC_PROT_ERR);
  }

  @Test
  void aPeerWithoutAReceiveExhaustsTheRetries() throws Exception {
    Player sender = player(IbvQpType.RC);
    Player silent = player(IbvQpType.RC);
    new Connection(gid).rts(attr -> attr.rnrRetry(0)).connect(sender.qp, silent.qp);
    new Connection(gid).connect(silent.qp, sender.qp);

    assertThat(sender.complete(sender.request(IbvWrOpcode.SEND, 8)).status())
        .isEqualTo(IbvWcStatus.RNR_RETRY_EXC_ERR);
  }

  @Test
  void aPeerThatIsGoneExhaustsTheRetries() throws Exception {
    Player lonely = player(IbvQpType.RC);
    Player gone = player(IbvQpType.RC);
    new Connection(gid).rts(attr -> attr.timeout(8).retryCnt(1)).connect(lonely.qp, gone.qp);
    gone.qp.close();

    assertThat(lonely.complete(lonely.request(IbvWrOpcode.RDMA_WRITE, 8).rdma(0, 1)).status())
        .isEqualTo(IbvWcStatus.RETRY_EXC_ERR);
  }

  @Test
  void whatIsBehindAFailedRequestIsFlushedOnceEach() throws Exception {
    client.postReceive(8);
    IbvSendWrList chain = read(server.mr.address(), server.mr.rkey() + 1);
    for (int i = 2; i < 10; i++) {
      chain.add(i, IbvWrOpcode.RDMA_READ, 0).rdma(0, 0);
    }

    client.qp.postSend(chain);
    List<Completion> completions = client.await(10);

    assertThat(completions.getFirst().status()).isEqualTo(IbvWcStatus.REM_ACCESS_ERR);
    assertThat(completions.subList(1, 10))
        .allMatch(c -> c.status() == IbvWcStatus.WR_FLUSH_ERR)
        .extracting(Completion::wrId)
        .containsExactlyInAnyOrder(2L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(client.poll(1)).isEmpty();
  }

  @Test
  void aFailedConnectionLeavesAnotherAlone() throws Exception {
    Pair good = pair(IbvQpType.RC);
    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(0, server.mr.rkey()));

    good.server().fill(5);
    good.client()
        .succeed(
            good.client()
                .request(IbvWrOpcode.RDMA_READ, 100)
                .rdma(good.server().mr.address(), good.server().mr.rkey()));
    good.client().assertHolds(5, 100);
  }

  @Test
  void aFailedConnectionWorksAgainAfterReset() throws Exception {
    assertFails(IbvWcStatus.REM_ACCESS_ERR, read(0, server.mr.rkey()));

    client.qp.modify(new IbvQpAttr().state(IbvQpState.RESET));
    server.qp.modify(new IbvQpAttr().state(IbvQpState.RESET));
    connected(client, server);

    client.succeed(read(server.mr.address(), server.mr.rkey()));
  }

  @Test
  void everyStatusHasWords() throws Exception {
    client.qp.postSend(read(0, server.mr.rkey()));
    client.await();

    assertThat(client.polled().statusText(0)).isEqualTo("remote access error");
  }
}
