package dev.sluice.rdma.verbs.cm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpAttrMask;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections by a real device: events in their order, traffic, refusals and endings. */
@NeedsRdmaDevice
final class RdmaCmConnectionTest extends CmTestCase {
  /** Where nobody listens (IB_CM_REJ_INVALID_SERVICE_ID). */
  private static final int NOBODY_LISTENS = 8;

  /** Where the peer's application refused (IB_CM_REJ_CONSUMER_DEFINED). */
  private static final int PEER_REFUSED = 28;

  @Test
  void sendsArriveOverAConnection() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(7, server.memory, server.mr);
    client.memory.setString(0, "hello");
    client.verbs.postSend(8, client.memory.asSlice(0, 6), client.mr, IbvSendFlags.SIGNALED);
    client.awaitSent();
    server.awaitReceived();
    assertThat(server.completion.wrId(0)).isEqualTo(7);
    assertThat(server.completion.byteLength(0)).isEqualTo(6);
    assertThat(server.memory.getString(0)).isEqualTo("hello");
  }

  @Test
  void aReadFetchesThePeersMemory() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr = server.verbs.regRead(server.memory);
    server.memory.setString(0, "from the server");
    client.verbs.postRead(
        1,
        client.memory,
        client.mr,
        IbvSendFlags.SIGNALED,
        server.memory.address(),
        server.mr.rkey());
    client.awaitSent();
    assertThat(client.memory.getString(0)).isEqualTo("from the server");
  }

  @Test
  void bothSidesKnowTheAddressesOfBoth() throws Exception {
    CmNode.connect(server, client);
    assertThat(client.id.peerAddress()).isEqualTo(server.id.localAddress());
    assertThat(client.id.localAddress()).isEqualTo(server.id.peerAddress());
    assertThat(client.id.portNum()).isEqualTo(1);
    assertThat(client.id.portSpace()).isEqualTo(RdmaPortSpace.TCP);
  }

  @Test
  void disconnectingIsSeenByBothSides() throws Exception {
    CmNode.connect(server, client);
    client.id.disconnect();
    server.expect(RdmaCmEventType.DISCONNECTED);
    server.id.disconnect();
    client.expect(RdmaCmEventType.DISCONNECTED);
    assertThat(client.verbs.qp().queryState()).isEqualTo(IbvQpState.ERR);
    assertThat(server.verbs.qp().queryState()).isEqualTo(IbvQpState.ERR);
  }

  @Test
  void closingAnIdDisconnectsThePeer() throws Exception {
    CmNode.connect(server, client);
    client.id.close();
    server.expect(RdmaCmEventType.DISCONNECTED);
    assertThat(client.verbs.qp().isClosed()).isTrue();
  }

  @Test
  void privateDataOfTheGreatestLengthGoesBothWays() throws Exception {
    byte[] request = random(56);
    byte[] answer = random(196);
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.privateData = request));
    assertThat(server.request().privateData()).isEqualTo(request);
    server.createQp(IbvQpType.RC);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.privateData = answer));
    assertThat(client.expect(RdmaCmEventType.ESTABLISHED).privateData()).isEqualTo(answer);
  }

  @Test
  void morePrivateDataThanTheTransportTakesIsRefusedBeforeItIsSent() throws Exception {
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    client.createQp(IbvQpType.RC);
    RdmaConnParam param = RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[57]);
    assertThatThrownBy(() -> client.id.connect(param))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("57 bytes of private data, of which TCP takes 56");
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    assertThatThrownBy(() -> server.id.reject(new byte[149])).hasMessageContaining("takes 148");
    assertThatThrownBy(
            () -> server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[197])))
        .hasMessageContaining("takes 196");
  }

  @Test
  void aRefusalArrivesWithItsPrivateData() throws Exception {
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.id.reject("not you".getBytes(UTF_8));
    RdmaCmEvent rejected = client.expect(RdmaCmEventType.REJECTED);
    assertThat(rejected.status()).isEqualTo(PEER_REFUSED);
    assertThat(new String(Arrays.copyOf(rejected.privateData(), 7), UTF_8)).isEqualTo("not you");
  }

  @Test
  void whereNobodyListensTheConnectionIsRejected() throws Exception {
    client.resolve(RdmaPortSpace.TCP, new InetSocketAddress(CmNode.deviceAddress(), 9));
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    RdmaCmEvent rejected = client.expect(RdmaCmEventType.REJECTED);
    assertThat(rejected.status()).isEqualTo(NOBODY_LISTENS);
    assertThat(rejected.text()).isEqualTo("RDMA_CM_EVENT_REJECTED");
  }

  @Test
  void closingDuringConnectTakesTheRequestBack() throws Exception {
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    client.id.close();
    awaitRefusal(() -> server.id.initQpAttr(IbvQpState.INIT));
    assertThatThrownBy(() -> server.id.accept(RdmaConnParam.DEFAULT))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  void eventsThatNobodyClosedDoNotKeepAnIdFromClosing() throws Exception {
    InetSocketAddress address = server.listen(RdmaPortSpace.TCP);
    client.resolve(RdmaPortSpace.TCP, address);
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    RdmaCmEvent request = server.channel.awaitEvent(CmNode.TIMEOUT_MS).orElseThrow();
    server.channel.close();
    assertThat(request.listenId().isClosed()).isTrue();
    assertThat(request.id().isClosed()).isTrue();
    assertThat(request.listenId()).isNotEqualTo(request.id());
  }

  @Test
  void aQueuePairOfTheCallersOwnIsConnectedByItsNumber() throws Exception {
    client.resolve(RdmaPortSpace.TCP, server.listen(RdmaPortSpace.TCP));
    IbvQp clientQp = externalQp(client);
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.qpNum = clientQp.qpNum()));
    RdmaCmEvent request = server.request();
    assertThat(request.connParam().qpNum()).isEqualTo(clientQp.qpNum());
    IbvQp serverQp = externalQp(server);
    toReadyToSend(server, serverQp);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = serverQp.qpNum()));
    client.expect(RdmaCmEventType.CONNECT_RESPONSE);
    toReadyToSend(client, clientQp);
    client.id.establish();
    server.expect(RdmaCmEventType.ESTABLISHED);
    assertThat(clientQp.query(IbvQpAttrMask.DEST_QPN).get("dest_qp_num"))
        .isEqualTo(serverQp.qpNum());
    assertThat(serverQp.query(IbvQpAttrMask.DEST_QPN).get("dest_qp_num"))
        .isEqualTo(clientQp.qpNum());
    assertThat(clientQp.queryState()).isEqualTo(IbvQpState.RTS);
  }

  private static IbvQp externalQp(CmNode node) throws Exception {
    IbvCq cq = node.id.context().createCq(16);
    IbvQp qp =
        node.id
            .context()
            .allocPd()
            .createQp(IbvQpInitAttr.of(IbvQpType.RC, cq, new IbvQpCap(8, 8, 1, 1, 0)));
    qp.modify(node.id.initQpAttr(IbvQpState.INIT));
    return qp;
  }

  private static void toReadyToSend(CmNode node, IbvQp qp) throws Exception {
    qp.modify(node.id.initQpAttr(IbvQpState.RTR));
    qp.modify(node.id.initQpAttr(IbvQpState.RTS));
  }

  /** The kernel announces nothing about a request that was not accepted. */
  private static void awaitRefusal(Callable<?> call) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CmNode.TIMEOUT_MS);
    while (System.nanoTime() - deadline < 0) {
      try {
        call.call();
      } catch (VerbsException e) {
        return;
      }
      Thread.yield();
    }
    throw new AssertionError("the call was not refused in time");
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }
}
