// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Failures of requests on a reliable connection, and their effect on both ends. */
@NeedsRdmaDevice
class IbvRcErrorTest extends IbvTestCase {
  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQp.Type.RC);
    client = pair.client();
    server = pair.server();
  }

  private IbvSendWrList read(long remoteAddress, int rkey) {
    return client.request(IbvSendWrList.Opcode.RDMA_READ, 64).rdma(remoteAddress, rkey);
  }

  private void assertFails(IbvWcArray.Status status, IbvSendWrList request) throws VerbsException {
    assertThat(client.complete(request).status()).isEqualTo(status);
    assertThat(client.qp.queryState()).isEqualTo(IbvQp.State.ERR);
  }

  /**
   * Expects a failure at the requester, otherwise as {@link #assertFails}. rxe of kernel 7.3
   * reports a request that it could not begin as flushed, like the requests after it.
   */
  private void assertFailsLocally(IbvWcArray.Status status, IbvSendWrList request)
      throws VerbsException {
    IbvWcArray.Status actual = client.complete(request).status();
    assertThat(actual).isIn(status, isRxe() ? IbvWcArray.Status.WR_FLUSH_ERR : status);
    assertThat(client.qp.queryState()).isEqualTo(IbvQp.State.ERR);
  }

  @Test
  void anUnknownRemoteKeyIsARemoteAccessError() throws Exception {
    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(server.mr.address(), server.mr.rkey() + 1));
  }

  @Test
  void theBytesBehindARegionAreARemoteAccessError() throws Exception {
    long end = server.mr.address() + server.mr.length();

    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(end - 63, server.mr.rkey()));
  }

  @Test
  void theBytesBeforeARegionAreARemoteAccessError() throws Exception {
    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(server.mr.address() - 1, server.mr.rkey()));
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvSendWrList.Opcode.class,
      names = {"RDMA_READ", "RDMA_WRITE"})
  void aRegionWithoutTheRightIsARemoteAccessError(IbvSendWrList.Opcode opcode) throws Exception {
    IbvMr local = pd.regMr(server.memory, IbvMr.Access.LOCAL_WRITE);

    assertFails(
        IbvWcArray.Status.REM_ACCESS_ERR,
        client.request(opcode, 64).rdma(local.address(), local.rkey()));
  }

  @Test
  void aRegionThatWasDeregisteredIsARemoteAccessError() throws Exception {
    server.mr.close();

    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(server.memory.address(), keyAfterClose()));
  }

  /** Returns the key of a region that was registered and closed. */
  private int keyAfterClose() throws VerbsException {
    IbvMr mr = pd.regMr(server.memory, ALL_ACCESS);
    int rkey = mr.rkey();
    mr.close();
    return rkey;
  }

  @Test
  void aRegionOfAnotherProtectionDomainIsARemoteAccessError() throws Exception {
    IbvMr foreign = context.allocPd().regMr(server.memory, ALL_ACCESS);

    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(foreign.address(), foreign.rkey()));
  }

  @Test
  void anUnknownLocalKeyIsALocalProtectionError() throws Exception {
    assertFailsLocally(
        IbvWcArray.Status.LOC_PROT_ERR,
        client.request(IbvSendWrList.Opcode.SEND).sge(client.address(0), 8, client.mr.lkey() + 1));
  }

  @Test
  void aQueuePairWithoutTheRightRefusesReads() throws Exception {
    Player forbidding = player(IbvQp.Type.RC);
    Player reader = player(IbvQp.Type.RC);
    new Connection(gid).access(IbvMr.Access.REMOTE_WRITE).connect(forbidding.qp, reader.qp);
    new Connection(gid).connect(reader.qp, forbidding.qp);

    assertThat(
            reader
                .complete(
                    reader
                        .request(IbvSendWrList.Opcode.RDMA_READ, 8)
                        .rdma(forbidding.mr.address(), forbidding.mr.rkey()))
                .status())
        .isEqualTo(IbvWcArray.Status.REM_INV_REQ_ERR);
  }

  /** rxe calls the receive malformed; verbs define other statuses for this case. */
  @Test
  void aReceiveThatIsTooShortFailsAtBothEnds() throws Exception {
    server.postReceive(8);

    assertFails(
        isRxe() ? IbvWcArray.Status.REM_OP_ERR : IbvWcArray.Status.REM_INV_REQ_ERR,
        client.request(IbvSendWrList.Opcode.SEND, 9));
    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcArray.Status.LOC_QP_OP_ERR : IbvWcArray.Status.LOC_LEN_ERR);
  }

  /** rxe calls this receive malformed, too. */
  @Test
  void aReceiveWithAnUnknownKeyFailsAtBothEnds() throws Exception {
    server.qp.postRecv(server.receives().add(1).sge(server.address(0), 8, server.mr.lkey() + 1));

    assertFails(IbvWcArray.Status.REM_OP_ERR, client.request(IbvSendWrList.Opcode.SEND, 8));
    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcArray.Status.LOC_QP_OP_ERR : IbvWcArray.Status.LOC_PROT_ERR);
  }

  @Test
  void aPeerWithoutAReceiveExhaustsTheRetries() throws Exception {
    Player sender = player(IbvQp.Type.RC);
    Player silent = player(IbvQp.Type.RC);
    new Connection(gid).rts(attr -> attr.rnrRetry(0)).connect(sender.qp, silent.qp);
    new Connection(gid).connect(silent.qp, sender.qp);

    assertThat(sender.complete(sender.request(IbvSendWrList.Opcode.SEND, 8)).status())
        .isEqualTo(IbvWcArray.Status.RNR_RETRY_EXC_ERR);
  }

  @Test
  void aPeerThatIsGoneExhaustsTheRetries() throws Exception {
    Player lonely = player(IbvQp.Type.RC);
    Player gone = player(IbvQp.Type.RC);
    new Connection(gid).rts(attr -> attr.timeout(8).retryCnt(1)).connect(lonely.qp, gone.qp);
    gone.qp.close();

    assertThat(
            lonely.complete(lonely.request(IbvSendWrList.Opcode.RDMA_WRITE, 8).rdma(0, 1)).status())
        .isEqualTo(IbvWcArray.Status.RETRY_EXC_ERR);
  }

  @Test
  void requestsBehindAFailedOneAreFlushedOnceEach() throws Exception {
    client.postReceive(8);
    IbvSendWrList chain = read(server.mr.address(), server.mr.rkey() + 1);
    for (int i = 2; i < 10; i++) {
      chain.add(i, IbvSendWrList.Opcode.RDMA_READ, 0).rdma(0, 0);
    }

    client.qp.postSend(chain);
    List<Completion> completions = client.await(10);

    assertThat(completions.getFirst().status()).isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
    assertThat(completions.subList(1, 10))
        .allMatch(c -> c.status() == IbvWcArray.Status.WR_FLUSH_ERR)
        .extracting(Completion::wrId)
        .containsExactlyInAnyOrder(2L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(client.poll(1)).isEmpty();
  }

  @Test
  void aFailedConnectionLeavesAnotherAlone() throws Exception {
    Pair good = pair(IbvQp.Type.RC);
    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(0, server.mr.rkey()));

    good.server().fill(5);
    good.client()
        .succeed(
            good.client()
                .request(IbvSendWrList.Opcode.RDMA_READ, 100)
                .rdma(good.server().mr.address(), good.server().mr.rkey()));
    good.client().assertHolds(5, 100);
  }

  @Test
  void aFailedConnectionWorksAgainAfterReset() throws Exception {
    assertFails(IbvWcArray.Status.REM_ACCESS_ERR, read(0, server.mr.rkey()));

    client.qp.modify(new IbvQpAttr().state(IbvQp.State.RESET));
    server.qp.modify(new IbvQpAttr().state(IbvQp.State.RESET));
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
