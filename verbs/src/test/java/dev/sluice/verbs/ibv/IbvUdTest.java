// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Datagrams, unicast and multicast. */
@NeedsRdmaDevice
class IbvUdTest extends IbvTestCase {
  private static final int SEED = 25;
  private static final int BYTES = 500;

  /** Queue pair number of all multicast. */
  private static final int MULTICAST_QP = 0xffffff;

  private static final int GRH_BYTES = (int) IbvGrh.BYTES;

  private Player client;
  private Player server;
  private IbvAh ah;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQp.Type.UD);
    client = pair.client();
    server = pair.server();
    ah = pd.createAh(new Connection(gid).address());
  }

  private IbvSendWrList datagram(IbvSendWrList.Opcode opcode, int bytes) throws VerbsException {
    return client.request(opcode, bytes).datagram(ah, server.qp.qpNum(), QKEY);
  }

  @Test
  void aDatagramArrivesBehindItsRouteHeader() throws Exception {
    client.fill(SEED);
    server.postReceive(GRH_BYTES + BYTES);

    client.succeed(datagram(IbvSendWrList.Opcode.SEND_WITH_IMM, BYTES).immediate(17));
    Completion received = server.await();

    assertThat(received.opcode()).isEqualTo(IbvWcArray.Opcode.RECV);
    assertThat(received.bytes()).isEqualTo(GRH_BYTES + BYTES);
    assertThat(received.srcQp()).isEqualTo(client.qp.qpNum());
    assertThat(received.immediate()).isEqualTo(17);
    assertThat(received.has(IbvWcArray.Flags.GRH)).isTrue();
    server.assertHolds(SEED, 0, GRH_BYTES, BYTES);
  }

  @Test
  void aDatagramMayBeEmpty() throws Exception {
    server.postReceive(GRH_BYTES);

    client.succeed(datagram(IbvSendWrList.Opcode.SEND, 0));

    assertThat(server.await().bytes()).isEqualTo(GRH_BYTES);
  }

  @Test
  void aReceiverAnswersByTheCompletion() throws Exception {
    server.fill(SEED);
    server.qp.postRecv(
        server.receives().add(1).sge(server.address(PAGE_BYTES), GRH_BYTES, server.mr.lkey()));
    client.postReceive(GRH_BYTES + BYTES);
    client.succeed(datagram(IbvSendWrList.Opcode.SEND, 0));
    int senderQp = server.await().srcQp();

    IbvGrh header = new IbvGrh(server.memory.asSlice(PAGE_BYTES));
    IbvAhAttr sender = context.initAhFromWc(PORT, server.polled(), 0, header);
    assertThat(sender.dgid()).isEqualTo(gid.gid());
    assertThat(sender.sgidIndex()).isEqualTo(gid.index());
    IbvAh back = pd.createAhFromWc(server.polled(), 0, header, PORT);
    server.succeed(server.request(IbvSendWrList.Opcode.SEND, BYTES).datagram(back, senderQp, QKEY));

    client.await();
    client.assertHolds(SEED, 0, GRH_BYTES, BYTES);
  }

  @Test
  void aDatagramWithAnotherKeyIsDropped() throws Exception {
    server.postReceive(GRH_BYTES + BYTES);
    client.succeed(
        client.request(IbvSendWrList.Opcode.SEND, 8).datagram(ah, server.qp.qpNum(), QKEY + 1));

    client.succeed(datagram(IbvSendWrList.Opcode.SEND_WITH_IMM, 8).immediate(3));

    assertThat(server.await().immediate()).isEqualTo(3);
  }

  @Test
  void aDatagramWithoutAReceiveIsDropped() throws Exception {
    client.succeed(datagram(IbvSendWrList.Opcode.SEND_WITH_IMM, 8).immediate(1));
    server.postReceive(GRH_BYTES + BYTES);
    client.succeed(datagram(IbvSendWrList.Opcode.SEND_WITH_IMM, 8).immediate(2));

    assertThat(server.await().immediate()).isEqualTo(2);
  }

  @Test
  void aQueuePairReportsItsKeyAndTakesAnother() throws Exception {
    assertThat(server.qp.query(IbvQpAttr.Mask.QKEY).get("qkey")).isEqualTo(QKEY);

    server.qp.modify(new IbvQpAttr().state(IbvQp.State.RTS).qkey(5));

    assertThat(server.qp.query(IbvQpAttr.Mask.QKEY).get("qkey")).isEqualTo(5);
  }

  /** Sends from one device to two queue pairs of another. The kernel must be in the group, too. */
  @Test
  void datagramsGoToAllMembersOfTheGroup() throws Exception {
    InetAddress address = InetAddress.getByName("239.1.2.6");
    Gid group = Gid.of(address);
    client.fill(SEED);
    IbvAh all = pd.createAh(new Connection(gid).address().with(ah -> ah.dgid = group));
    try (IbvContext other = secondDevice();
        MulticastSocket kernel = new MulticastSocket()) {
      kernel.joinGroup(new InetSocketAddress(address, 0), netDevice(other));
      List<Player> members = List.of(member(other), member(other));
      for (Player member : members) {
        member.qp.attachMcast(group, 0);
        member.postReceive(GRH_BYTES + BYTES);
      }

      client.succeed(
          client.request(IbvSendWrList.Opcode.SEND, BYTES).datagram(all, MULTICAST_QP, QKEY));

      for (Player member : members) {
        assertThat(member.await().bytes()).isEqualTo(GRH_BYTES + BYTES);
        member.assertHolds(SEED, 0, GRH_BYTES, BYTES);
        member.qp.detachMcast(group, 0);
      }
    }
  }

  private IbvContext secondDevice() throws Exception {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      assumeThat(list.devices()).as("two devices on one net").hasSizeGreaterThan(1);
      assumeThat(isRxe()).as("soft-RoCE, which names its net device").isTrue();
      return list.devices().get(1).open();
    }
  }

  private static NetworkInterface netDevice(IbvContext device) throws IOException {
    Path parent = Path.of(device.device().sysfsPath(), "parent");
    return NetworkInterface.getByName(Files.readString(parent).strip());
  }

  private Player member(IbvContext other) throws VerbsException {
    IbvPd domain = other.allocPd();
    IbvCq cq = other.createCq(16);
    IbvQp qp = domain.createQp(IbvQpInitAttr.of(IbvQp.Type.UD, cq, CAP));
    new Connection(gid).connect(qp, 0);
    return new Player(
        arena, qp, cq, domain.regMr(allocate(MEMORY_BYTES), IbvMr.Access.LOCAL_WRITE));
  }

  @Test
  void aQueuePairInAGroupCannotBeClosed() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.3"));
    server.qp.attachMcast(group, 0);

    assertRefused(EBUSY, server.qp::close);
    server.qp.detachMcast(group, 0);
    server.qp.close();
  }

  @Test
  void onlyMembersLeaveAGroup() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.4"));
    server.qp.attachMcast(group, 0);
    server.qp.attachMcast(group, 0);

    assertRefused(EINVAL, () -> client.qp.detachMcast(group, 0));
    server.qp.detachMcast(group, 0);
    assertRefused(EINVAL, () -> server.qp.detachMcast(group, 0));
  }

  @Test
  void onlyDatagramQueuePairsJoinGroups() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.5"));
    IbvQp connected = player(IbvQp.Type.RC).qp;

    assertRefused(EINVAL, () -> connected.attachMcast(group, 0));
  }
}
