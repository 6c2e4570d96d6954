// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvSendWrList;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Datagram services and multicast groups on a real device. */
@NeedsRdmaDevice
final class RdmaCmDatagramTest extends CmTestCase {
  /** Bytes before the message in a datagram's receive. */
  private static final int GRH = 40;

  /** The queue pair number of multicast groups. */
  private static final int MULTICAST_QPN = 0xffffff;

  @Test
  void aDatagramReachesTheServiceThatWasLookedUp() throws Exception {
    client.resolve(RdmaCmId.PortSpace.UDP, server.listen(RdmaCmId.PortSpace.UDP));
    client.createQp(IbvQp.Type.UD);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQp.Type.UD);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(1, server.memory, server.mr);
    server.id.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = server.id.qp().qpNum()));
    RdmaUdParam service = client.expect(RdmaCmEvent.Type.ESTABLISHED).udParam();
    assertThat(service.qpNum()).isEqualTo(server.id.qp().qpNum());
    assertThat(service.qkey()).isEqualTo(RdmaUdParam.UDP_QKEY);
    send(client, "to the service", service);
    server.awaitReceived();
    assertThat(server.completion.byteLength(0)).isEqualTo(GRH + 15);
    assertThat(CString.read(server.memory.asSlice(GRH))).isEqualTo("to the service");
  }

  @Test
  void aDatagramToAGroupReachesItsMemberUntilItLeaves() throws Exception {
    InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
    server.id = server.channel.createId(RdmaCmId.PortSpace.UDP);
    server.id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    server.createQp(IbvQp.Type.UD);
    server.mr = server.verbs.regMsgs(server.memory);
    server.verbs.postRecv(1, server.memory, server.mr);
    server.id.joinMulticast(group);
    RdmaUdParam joined = server.expect(RdmaCmEvent.Type.MULTICAST_JOIN).udParam();
    assertThat(joined.qpNum()).isEqualTo(MULTICAST_QPN);
    send(server, "to the group", joined);
    server.awaitReceived();
    assertThat(CString.read(server.memory.asSlice(GRH))).isEqualTo("to the group");
    server.id.leaveMulticast(group);
    server.verbs.postRecv(2, server.memory, server.mr);
    send(server, "to nobody", joined);
    assertThat(server.verbs.getRecvComp(server.completion, 50)).isFalse();
  }

  /** A member that only sends need not attach its queue pair. */
  @Test
  void anIdThatOnlySendsReachesTheMembersAndReceivesNothing() throws Exception {
    InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.5"), 0);
    for (CmNode node : List.of(server, client)) {
      node.id = node.channel.createId(RdmaCmId.PortSpace.UDP);
      node.id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
      node.createQp(IbvQp.Type.UD);
      node.mr = node.verbs.regMsgs(node.memory);
      node.verbs.postRecv(1, node.memory, node.mr);
    }
    server.id.joinMulticast(group, RdmaCmId.JoinFlags.FULLMEMBER);
    server.expect(RdmaCmEvent.Type.MULTICAST_JOIN);
    client.id.joinMulticast(group, RdmaCmId.JoinFlags.SENDONLY_FULLMEMBER);
    RdmaCmEvent joined = client.channel.awaitEvent(CmNode.TIMEOUT_MS).orElseThrow();
    joined.close();
    if (joined.type().is(RdmaCmEvent.Type.MULTICAST_JOIN)) {
      send(client, "to the group", joined.udParam());
      server.awaitReceived();
      assertThat(CString.read(server.memory.asSlice(GRH))).isEqualTo("to the group");
      assertThat(client.verbs.getRecvComp(client.completion, 50)).isFalse();
    } else {
      assertThat(joined.type()).isEqualTo(CValue.of(RdmaCmEvent.Type.MULTICAST_ERROR));
    }
  }

  @Test
  void leavingDoesNotWaitForUnclosedEvents() throws Exception {
    InetSocketAddress group = new InetSocketAddress(InetAddress.getByName("239.1.2.4"), 0);
    server.id = server.channel.createId(RdmaCmId.PortSpace.UDP);
    server.id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    server.id.joinMulticast(group);
    RdmaCmEvent joined = server.channel.awaitEvent(CmNode.TIMEOUT_MS).orElseThrow();
    server.id.leaveMulticast(group);
    assertThat(joined.type().is(RdmaCmEvent.Type.MULTICAST_JOIN)).isTrue();
  }

  /** Sends from the half of the memory that receives do not write to. */
  private static void send(CmNode node, String text, RdmaUdParam to) throws Exception {
    if (node.mr == null) {
      node.mr = node.verbs.regMsgs(node.memory);
    }
    CString.write(node.memory.asSlice(2048), text);
    IbvAh ah = node.id.defaultPd().createAh(to.ahAttr());
    node.verbs.postUdSend(
        3,
        node.memory.asSlice(2048, text.length() + 1),
        node.mr,
        IbvSendWrList.Flags.SIGNALED,
        ah,
        to.qpNum());
    node.awaitSent();
  }
}
