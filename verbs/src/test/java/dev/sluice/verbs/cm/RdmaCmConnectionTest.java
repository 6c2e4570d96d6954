// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSge;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections on a real device: order of events, traffic, refusals and endings. */
@NeedsRdmaDevice
final class RdmaCmConnectionTest extends CmTestCase {
  /** Reason if there is no listener (IB_CM_REJ_INVALID_SERVICE_ID). */
  private static final int NOBODY_LISTENS = 8;

  /** Reason if the peer's application refused (IB_CM_REJ_CONSUMER_DEFINED). */
  private static final int PEER_REFUSED = 28;

  /** IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED. */
  private static final int ECE_NOT_SUPPORTED = 35;

  @Test
  void sendsArriveOverAConnection() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(7, server.memory, server.mr);
    CString.write(client.memory, "hello");
    client.verbs.postSend(8, client.memory.asSlice(0, 6), client.mr, IbvSendWrList.Flags.SIGNALED);
    client.awaitSent();
    server.awaitReceived();
    assertThat(server.completion.wrId(0)).isEqualTo(7);
    assertThat(server.completion.byteLength(0)).isEqualTo(6);
    assertThat(CString.read(server.memory)).isEqualTo("hello");
  }

  @Test
  void aReadFetchesThePeersMemory() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr = server.verbs.regRead(server.memory);
    CString.write(server.memory, "from the server");
    client.verbs.postRead(
        1,
        client.memory,
        client.mr,
        IbvSendWrList.Flags.SIGNALED,
        server.memory.address(),
        server.mr.rkey());
    client.awaitSent();
    assertThat(CString.read(client.memory)).isEqualTo("from the server");
  }

  @Test
  void bothSidesKnowTheAddressesOfBoth() throws Exception {
    CmNode.connect(server, client);
    assertThat(client.id.peerAddress()).isEqualTo(server.id.localAddress());
    assertThat(client.id.localAddress()).isEqualTo(server.id.peerAddress());
    assertThat(client.id.portNum()).isEqualTo(1);
    assertThat(client.id.portSpace().is(RdmaCmId.PortSpace.TCP)).isTrue();
  }

  /**
   * The values mean 537 ms until a packet is sent again, and 655 ms until a peer that is not ready
   * is asked again.
   */
  @Test
  void timeoutsAreThoseOfTheKernelOnSoftRoce() throws Exception {
    CmNode.connect(server, client);
    String device = client.id.context().device().name();
    assumeThat(Path.of("/sys/class/infiniband", device, "parent")).exists();
    assertThat(client.id.qp().query(IbvQpAttr.Mask.TIMEOUT).get("timeout")).isEqualTo(17);
    assertThat(server.id.qp().query(IbvQpAttr.Mask.MIN_RNR_TIMER).get("min_rnr_timer")).isZero();
  }

  @Test
  void disconnectingIsSeenByBothSides() throws Exception {
    CmNode.connect(server, client);
    client.id.disconnect();
    server.expect(RdmaCmEvent.Type.DISCONNECTED);
    server.id.disconnect();
    client.expect(RdmaCmEvent.Type.DISCONNECTED);
    assertThat(client.id.qp().queryState()).isEqualTo(IbvQp.State.ERR);
    assertThat(server.id.qp().queryState()).isEqualTo(IbvQp.State.ERR);
  }

  @Test
  void closingAnIdDisconnectsThePeer() throws Exception {
    CmNode.connect(server, client);
    IbvQp qp = client.id.qp();
    client.id.close();
    server.expect(RdmaCmEvent.Type.DISCONNECTED);
    assertThat(qp.isClosed()).isTrue();
  }

  @Test
  void privateDataOfTheGreatestLengthGoesBothWays() throws Exception {
    byte[] request = random(56);
    byte[] answer = random(196);
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.privateData = request));
    assertThat(server.request().privateData()).isEqualTo(request);
    server.createQp(IbvQp.Type.RC);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.privateData = answer));
    assertThat(client.expect(RdmaCmEvent.Type.ESTABLISHED).privateData()).isEqualTo(answer);
  }

  @Test
  void morePrivateDataThanTheTransportTakesIsRefusedBeforeItIsSent() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    client.createQp(IbvQp.Type.RC);
    RdmaConnParam param = RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[57]);
    assertThatThrownBy(() -> client.id.connect(param))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("57 bytes of private data; TCP takes at most 56");
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    assertThatThrownBy(() -> server.id.reject(new byte[149]))
        .hasMessageContaining("takes at most 148");
    assertThatThrownBy(
            () -> server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.privateData = new byte[197])))
        .hasMessageContaining("takes at most 196");
  }

  @Test
  void aRefusalArrivesWithItsPrivateData() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.id.reject("not you".getBytes(UTF_8));
    RdmaCmEvent rejected = client.expect(RdmaCmEvent.Type.REJECTED);
    assertThat(rejected.status()).isEqualTo(PEER_REFUSED);
    assertThat(new String(Arrays.copyOf(rejected.privateData(), 7), UTF_8)).isEqualTo("not you");
  }

  @Test
  void connectingWithoutAListenerIsRejected() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, new InetSocketAddress(CmNode.deviceAddress(), 9));
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    RdmaCmEvent rejected = client.expect(RdmaCmEvent.Type.REJECTED);
    assertThat(rejected.status()).isEqualTo(NOBODY_LISTENS);
    assertThat(rejected.text()).isEqualTo("RDMA_CM_EVENT_REJECTED");
  }

  @Test
  void closingDuringConnectTakesTheRequestBack() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    client.id.close();
    awaitRefusal(() -> server.id.initQpAttr(IbvQp.State.INIT));
    assertThatThrownBy(() -> server.id.accept(RdmaConnParam.DEFAULT))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  void unclosedEventsDoNotKeepAnIdFromClosing() throws Exception {
    InetSocketAddress address = server.listen(RdmaCmId.PortSpace.TCP);
    client.resolve(RdmaCmId.PortSpace.TCP, address);
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    RdmaCmEvent request = server.channel.awaitEvent(CmNode.TIMEOUT_MS).orElseThrow();
    server.channel.close();
    assertThat(request.listenId().isClosed()).isTrue();
    assertThat(request.id().isClosed()).isTrue();
    assertThat(request.listenId()).isNotEqualTo(request.id());
  }

  @Test
  void anIdAnnouncesItsEventsOnTheChannelThatItMovedTo() throws Exception {
    client.id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    try (CmNode other = new CmNode()) {
      client.id.migrate(other.channel);
      client.id.resolveAddr(null, server.listen(RdmaCmId.PortSpace.TCP), CmNode.TIMEOUT_MS);
      assertThat(other.expect(RdmaCmEvent.Type.ADDR_RESOLVED).id()).isSameAs(client.id);
      client.channel.close();
      assertThat(client.id.isClosed()).isFalse();
    }
    assertThat(client.id.isClosed()).isTrue();
  }

  @Test
  void aWriteChangesThePeersMemory() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr = server.verbs.regWrite(server.memory);
    CString.write(client.memory, "from the client");
    client.verbs.postWrite(
        1,
        client.memory.asSlice(0, 16),
        client.mr,
        IbvSendWrList.Flags.SIGNALED,
        server.memory.address(),
        server.mr.rkey());
    client.awaitSent();
    assertThat(CString.read(server.memory)).isEqualTo("from the client");
  }

  @Test
  void requestsOfSeveralPiecesGatherAndScatterThem() throws Exception {
    CmNode.connect(server, client);
    client.mr = client.verbs.regMsgs(client.memory);
    server.mr =
        server
            .id
            .pd()
            .regMr(
                server.memory,
                IbvMr.Access.LOCAL_WRITE | IbvMr.Access.REMOTE_READ | IbvMr.Access.REMOTE_WRITE);
    server.verbs.postRecvv(7, pieces(server, 0, 3, 100, 5));
    CString.write(client.memory, "sluice");
    CString.write(client.memory.asSlice(200), "rdma");
    client.verbs.postSendv(8, pieces(client, 0, 3, 200, 5), IbvSendWrList.Flags.SIGNALED);
    client.awaitSent();
    server.awaitReceived();
    assertThat(CString.read(server.memory)).isEqualTo("slu");
    assertThat(CString.read(server.memory.asSlice(100))).isEqualTo("rdma");

    client.verbs.postWritev(
        9,
        pieces(client, 200, 4, 0, 7),
        IbvSendWrList.Flags.SIGNALED,
        server.memory.address(),
        server.mr.rkey());
    client.awaitSent();
    assertThat(CString.read(server.memory)).isEqualTo("rdmasluice");

    client.verbs.postReadv(
        10,
        pieces(client, 300, 4, 400, 7),
        IbvSendWrList.Flags.SIGNALED,
        server.memory.address(),
        server.mr.rkey());
    client.awaitSent();
    assertThat(CString.read(client.memory.asSlice(300))).isEqualTo("rdma");
    assertThat(CString.read(client.memory.asSlice(400))).isEqualTo("sluice");
  }

  private static List<IbvSge> pieces(CmNode node, int first, int length, int second, int rest) {
    return List.of(
        IbvSge.of(node.memory.asSlice(first, length), node.mr),
        IbvSge.of(node.memory.asSlice(second, rest), node.mr));
  }

  /** librdmacm carries any vendor's options; rxe itself has none. */
  @Test
  void bothSidesLearnEachOthersEnhancedOptions() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    IbvQp clientQp = externalQp(client);
    client.id.setLocalEce(new IbvEce(0x15b3, 6, 0));
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.qpNum = clientQp.qpNum()));
    server.request();
    assertThat(server.id.remoteEce()).isEqualTo(new IbvEce(0x15b3, 6, 0));
    IbvQp serverQp = externalQp(server);
    server.id.setLocalEce(new IbvEce(0x15b3, 2, 0));
    toReadyToSend(server, serverQp);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = serverQp.qpNum()));
    client.expect(RdmaCmEvent.Type.CONNECT_RESPONSE);
    assertThat(client.id.remoteEce()).isEqualTo(new IbvEce(0x15b3, 2, 0));
  }

  @Test
  void enhancedOptionsCanBeRefusedWithAReasonOfTheirOwn() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    IbvQp qp = externalQp(client);
    client.id.setLocalEce(new IbvEce(0x15b3, 6, 0));
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.qpNum = qp.qpNum()));
    server.request();
    server.id.rejectEce(new byte[0]);
    assertThat(client.expect(RdmaCmEvent.Type.REJECTED).status()).isEqualTo(ECE_NOT_SUPPORTED);
  }

  @Test
  void anIdWithAQueuePairTakesNoEnhancedOptions() throws Exception {
    CmNode.connect(server, client);
    assertThatThrownBy(() -> client.id.setLocalEce(new IbvEce(1, 1, 0)))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
  }

  @Test
  void aQueuePairOfTheCallersOwnIsConnectedByItsNumber() throws Exception {
    client.resolve(RdmaCmId.PortSpace.TCP, server.listen(RdmaCmId.PortSpace.TCP));
    IbvQp clientQp = externalQp(client);
    client.id.connect(RdmaConnParam.DEFAULT.with(p -> p.qpNum = clientQp.qpNum()));
    RdmaCmEvent request = server.request();
    assertThat(request.connParam().qpNum()).isEqualTo(clientQp.qpNum());
    IbvQp serverQp = externalQp(server);
    toReadyToSend(server, serverQp);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = serverQp.qpNum()));
    client.expect(RdmaCmEvent.Type.CONNECT_RESPONSE);
    toReadyToSend(client, clientQp);
    client.id.establish();
    server.expect(RdmaCmEvent.Type.ESTABLISHED);
    assertThat(clientQp.query(IbvQpAttr.Mask.DEST_QPN).get("dest_qp_num"))
        .isEqualTo(serverQp.qpNum());
    assertThat(serverQp.query(IbvQpAttr.Mask.DEST_QPN).get("dest_qp_num"))
        .isEqualTo(clientQp.qpNum());
    assertThat(clientQp.queryState()).isEqualTo(IbvQp.State.RTS);
  }

  private static IbvQp externalQp(CmNode node) throws Exception {
    IbvCq cq = node.id.context().createCq(16);
    IbvQp qp =
        node.id
            .context()
            .allocPd()
            .createQp(IbvQpInitAttr.of(IbvQp.Type.RC, cq, new IbvQpCap(8, 8, 1, 1, 0)));
    qp.modify(node.id.initQpAttr(IbvQp.State.INIT));
    return qp;
  }

  private static void toReadyToSend(CmNode node, IbvQp qp) throws Exception {
    qp.modify(node.id.initQpAttr(IbvQp.State.RTR));
    qp.modify(node.id.initQpAttr(IbvQp.State.RTS));
  }

  /** Repeats a call until it fails: the kernel sends no event for an unaccepted request. */
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
