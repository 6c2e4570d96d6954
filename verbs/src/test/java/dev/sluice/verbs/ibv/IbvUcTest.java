// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Unreliable connections: supported and unsupported operations. */
@NeedsRdmaDevice
class IbvUcTest extends IbvTestCase {
  private static final int SEED = 21;

  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQp.Type.UC);
    client = pair.client().fill(SEED);
    server = pair.server();
  }

  @Test
  void sendArrives() throws Exception {
    server.postReceive(5000);

    client.succeed(client.request(IbvSendWrList.Opcode.SEND, 5000));

    assertThat(server.await().bytes()).isEqualTo(5000);
    server.assertHolds(SEED, 5000);
  }

  @Test
  void writeWithImmediateArrives() throws Exception {
    server.postReceive(8);

    client.succeed(
        client
            .request(IbvSendWrList.Opcode.RDMA_WRITE_WITH_IMM, 5000)
            .rdma(server.mr.address(), server.mr.rkey())
            .immediate(-7));
    Completion received = server.await();

    assertThat(received.opcode()).isEqualTo(IbvWcArray.Opcode.RECV_RDMA_WITH_IMM);
    assertThat(received.immediate()).isEqualTo(-7);
    server.assertHolds(SEED, 5000);
  }

  @Test
  void aMessageWithoutAReceiveIsDroppedAndTheSenderDoesNotLearnOfIt() throws Exception {
    client.succeed(client.request(IbvSendWrList.Opcode.SEND, 100));
    server.postReceive(100);
    client.succeed(client.request(IbvSendWrList.Opcode.SEND_WITH_IMM, 8).immediate(9));

    assertThat(server.await().immediate()).isEqualTo(9);
  }

  /** rxe reports a request that it could not begin as flushed, like the requests after it. */
  @ParameterizedTest
  @EnumSource(
      value = IbvSendWrList.Opcode.class,
      names = {"RDMA_READ", "ATOMIC_FETCH_AND_ADD", "ATOMIC_CMP_AND_SWP"})
  void operationsThatNeedAnAnswerFail(IbvSendWrList.Opcode opcode) throws Exception {
    IbvSendWrList request = client.request(opcode, 8);
    if (opcode == IbvSendWrList.Opcode.RDMA_READ) {
      request.rdma(server.mr.address(), server.mr.rkey());
    } else {
      request.atomic(server.mr.address(), server.mr.rkey(), 1, 1);
    }

    assertThat(client.complete(request).status())
        .isIn(
            IbvWcArray.Status.LOC_QP_OP_ERR,
            isRxe() ? IbvWcArray.Status.WR_FLUSH_ERR : IbvWcArray.Status.LOC_QP_OP_ERR);
  }
}
