package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Datagrams. */
@NeedsRdmaDevice
class IbvUdTest extends IbvTestCase {
  private static final int SEED = 25;
  private static final int BYTES = 500;

  /** What UD receives put before the message. */
  private static final int GRH_BYTES = 40;

  private Player client;
  private Player server;
  private IbvAh ah;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQpType.UD);
    client = pair.client();
    server = pair.server();
    ah = pd.createAh(new Connection(gid).address());
  }

  private IbvSendWrList datagram(IbvWrOpcode opcode, int bytes) throws VerbsException {
    return client.request(opcode, bytes).datagram(ah, server.qp.qpNum(), QKEY);
  }

  @Test
  void aDatagramArrivesBehindItsRouteHeader() throws Exception {
    client.fill(SEED);
    server.postReceive(GRH_BYTES + BYTES);

    client.succeed(datagram(IbvWrOpcode.SEND_WITH_IMM, BYTES).immediate(17));
    Completion received = server.await();

    assertThat(received.opcode()).isEqualTo(IbvWcOpcode.RECV);
    assertThat(received.bytes()).isEqualTo(GRH_BYTES + BYTES);
    assertThat(received.srcQp()).isEqualTo(client.qp.qpNum());
    assertThat(received.immediate()).isEqualTo(17);
    assertThat(received.has(IbvWcFlags.GRH)).isTrue();
    server.assertHolds(SEED, 0, GRH_BYTES, BYTES);
  }

  @Test
  void aDatagramMayBeEmpty() throws Exception {
    server.postReceive(GRH_BYTES);

    client.succeed(datagram(IbvWrOpcode.SEND, 0));

    assertThat(server.await().bytes()).isEqualTo(GRH_BYTES);
  }

  @Test
  void aDatagramWithAnotherKeyIsDropped() throws Exception {
    server.postReceive(GRH_BYTES + BYTES);
    client.succeed(client.request(IbvWrOpcode.SEND, 8).datagram(ah, server.qp.qpNum(), QKEY + 1));

    client.succeed(datagram(IbvWrOpcode.SEND_WITH_IMM, 8).immediate(3));

    assertThat(server.await().immediate()).isEqualTo(3);
  }

  @Test
  void aDatagramWithoutAReceiveIsDropped() throws Exception {
    client.succeed(datagram(IbvWrOpcode.SEND_WITH_IMM, 8).immediate(1));
    server.postReceive(GRH_BYTES + BYTES);
    client.succeed(datagram(IbvWrOpcode.SEND_WITH_IMM, 8).immediate(2));

    assertThat(server.await().immediate()).isEqualTo(2);
  }

  @Test
  void aQueuePairReportsItsKeyAndTakesAnother() throws Exception {
    assertThat(server.qp.query(IbvQpAttrMask.QKEY).get("qkey")).isEqualTo(QKEY);

    server.qp.modify(new IbvQpAttr().state(IbvQpState.RTS).qkey(5));

    assertThat(server.qp.query(IbvQpAttrMask.QKEY).get("qkey")).isEqualTo(5);
  }
}
