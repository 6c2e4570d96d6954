package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ibv.IbvAh;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Datagram services and multicast groups by a real device. */
@NeedsRdmaDevice
final class RdmaCmDatagramTest extends CmTestCase {
  /** Bytes that a receive of a datagram has before the message. */
  private static final int GRH = 40;

  /** The queue pair number of multicast groups. */
  private static final int MULTICAST_QPN = 0xffffff;

  @Test
  void aDatagramReachesTheServiceThatWasLookedUp() throws Exception {
    client.resolve(RdmaPortSpace.UDP, server.listen(RdmaPortSpace.UDP));
    client.createQp(IbvQpType.UD);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQpType.UD);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(1, server.memory, server.mr);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = server.verbs.qp().qpNum()));
    RdmaUdParam service = client.expect(RdmaCmEventType.ESTABLISHED).udParam();
    assertThat(service.qpNum()).isEqualTo(server.verbs.qp().qpNum());
    assertThat(service.qkey()).isEqualTo(RdmaVerbs.UDP_QKEY);
    send(client, "to the service", service);
    server.awaitReceived();
    assertThat(server.completion.byteLength(0)).isEqualTo(GRH + 15);
    assertThat(server.memory.getString(GRH)).isEqualTo("to the service");
  }

  @Test
  void aDatagramToAGroupReachesItsMemberUntilItLeaves() throws Exception {
    InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
    server.id = server.channel.createId(RdmaPortSpace.UDP);
    server.id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    server.createQp(IbvQpType.UD);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(1, server.memory, server.mr);
    server.id.joinMulticast(group);
    RdmaUdParam joined = server.expect(RdmaCmEventType.MULTICAST_JOIN).udParam();
    assertThat(joined.qpNum()).isEqualTo(MULTICAST_QPN);
    send(server, "to the group", joined);
    server.awaitReceived();
    assertThat(server.memory.getString(GRH)).isEqualTo("to the group");
    server.id.leaveMulticast(group);
    server.verbs.postRecv(2, server.memory, server.mr);
    send(server, "to nobody", joined);
    assertThat(server.verbs.getRecvComp(server.completion, 50)).isFalse();
  }

  @Test
  void leavingDoesNotWaitForEventsThatNobodyClosed() throws Exception {
    InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.4"), 0);
    server.id = server.channel.createId(RdmaPortSpace.UDP);
    server.id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    server.id.joinMulticast(group);
    RdmaCmEvent joined = server.channel.awaitEvent(CmNode.TIMEOUT_MS).orElseThrow();
    server.id.leaveMulticast(group);
    assertThat(joined.type()).isEqualTo(RdmaCmEventType.MULTICAST_JOIN);
  }

  /** Sends from a half of the memory that receives do not write to. */
  private static void send(CmNode node, String text, RdmaUdParam to) throws Exception {
    if (node.mr == null) {
      node.mr = node.verbs.regMsgs(node.memory);
    }
    node.memory.setString(2048, text);
    IbvAh ah = node.id.defaultPd().createAh(to.ahAttr());
    node.verbs.postUdSend(
        3,
        node.memory.asSlice(2048, text.length() + 1),
        node.mr,
        IbvSendFlags.SIGNALED,
        ah,
        to.qpNum());
    node.awaitSent();
  }
}
