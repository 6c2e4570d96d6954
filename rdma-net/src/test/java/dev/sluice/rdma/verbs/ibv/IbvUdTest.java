package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EBUSY;
import static dev.sluice.rdma.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
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

  /** Where all multicast goes. */
  private static final int MULTICAST_QP = 0xffffff;

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
  void aReceiverAnswersByTheCompletion() throws Exception {
    server.fill(SEED);
    server.qp.postRecv(
        server.receives().add(1).sge(server.address(PAGE_BYTES), GRH_BYTES, server.mr.lkey()));
    client.postReceive(GRH_BYTES + BYTES);
    client.succeed(datagram(IbvWrOpcode.SEND, 0));
    int sender = server.await().srcQp();

    IbvAh back =
        pd.createAhFromWc(server.polled(), 0, server.memory.asSlice(PAGE_BYTES, GRH_BYTES), PORT);
    server.succeed(server.request(IbvWrOpcode.SEND, BYTES).datagram(back, sender, QKEY));

    client.await();
    client.assertHolds(SEED, 0, GRH_BYTES, BYTES);
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
    assertThat(server.qp.query(IbvQpAttrMask.QKEY).qkey()).isEqualTo(QKEY);

    server.qp.modify(new IbvQpAttr().state(IbvQpState.RTS).qkey(5));

    assertThat(server.qp.query(IbvQpAttrMask.QKEY).qkey()).isEqualTo(5);
  }

  /** From one device to two queue pairs of another; the kernel has to be in the group, too. */
  @Test
  void datagramsGoToAllWhoJoinedTheGroup() throws Exception {
    InetAddress address = InetAddress.getByName("239.1.2.6");
    Gid group = Gid.of(address);
    client.fill(SEED);
    IbvAh all = pd.createAh(IbvAhAttr.global(group, gid.index(), 1, PORT));
    try (IbvContext other = secondDevice();
        MulticastSocket kernel = new MulticastSocket()) {
      kernel.joinGroup(new InetSocketAddress(address, 0), netDevice(other));
      List<Player> members = List.of(member(other), member(other));
      for (Player member : members) {
        member.qp.attachMulticast(group, 0);
        member.postReceive(GRH_BYTES + BYTES);
      }

      client.succeed(client.request(IbvWrOpcode.SEND, BYTES).datagram(all, MULTICAST_QP, QKEY));

      for (Player member : members) {
        assertThat(member.await().bytes()).isEqualTo(GRH_BYTES + BYTES);
        member.assertHolds(SEED, 0, GRH_BYTES, BYTES);
        member.qp.detachMulticast(group, 0);
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
    IbvQp qp = domain.createQp(IbvQpInitAttr.of(IbvQpType.UD, cq, CAP));
    new Connection(gid).connect(qp, 0);
    return new Player(arena, qp, cq, domain.regMr(allocate(MEMORY_BYTES), IbvAccess.LOCAL_WRITE));
  }

  @Test
  void aQueuePairInAGroupCannotBeClosed() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.3"));
    server.qp.attachMulticast(group, 0);

    assertRefused(EBUSY, server.qp::close);
    server.qp.detachMulticast(group, 0);
    server.qp.close();
  }

  @Test
  void aGroupIsLeftOnlyByWhoIsInIt() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.4"));
    server.qp.attachMulticast(group, 0);
    server.qp.attachMulticast(group, 0);

    assertRefused(EINVAL, () -> client.qp.detachMulticast(group, 0));
    server.qp.detachMulticast(group, 0);
    assertRefused(EINVAL, () -> server.qp.detachMulticast(group, 0));
  }

  @Test
  void onlyDatagramQueuePairsJoinGroups() throws Exception {
    Gid group = Gid.of(InetAddress.getByName("239.1.2.5"));
    IbvQp connected = player(IbvQpType.RC).qp;

    assertRefused(EINVAL, () -> connected.attachMulticast(group, 0));
  }
}
