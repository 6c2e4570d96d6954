package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ibv.IbvEventType;
import dev.sluice.rdma.verbs.ibv.IbvQpAttrMask;
import dev.sluice.rdma.verbs.ibv.IbvQpState;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** Addresses, options and endpoints of ids on a real device. */
@NeedsRdmaDevice
final class RdmaCmIdTest extends CmTestCase {
  private static final int EADDRINUSE = 98;

  @Test
  void anAddressWithoutAWayIsRefused() throws Exception {
    client.id = client.channel.createId(RdmaPortSpace.TCP);
    InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("203.0.113.9"), 4711);
    try {
      client.id.resolveAddr(null, nowhere, 500);
    } catch (VerbsException e) {
      assertThat(e).hasMessageContaining("rdma_resolve_addr").hasMessageContaining("unreachable");
      return;
    }
    assertThat(client.expect(RdmaCmEventType.ADDR_ERROR).status()).isNegative();
  }

  @Test
  void acknowledgementTimeoutAndTypeOfServiceReachTheQueuePair() throws Exception {
    client.id = client.channel.createId(RdmaPortSpace.TCP);
    client.id.setTypeOfService(0x68);
    client.id.setAckTimeout(17);
    client.id.resolveAddr(null, server.listen(RdmaPortSpace.TCP), CmNode.TIMEOUT_MS);
    client.expect(RdmaCmEventType.ADDR_RESOLVED);
    client.id.resolveRoute(CmNode.TIMEOUT_MS);
    client.expect(RdmaCmEventType.ROUTE_RESOLVED);
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQpType.RC);
    server.id.accept(RdmaConnParam.DEFAULT);
    client.expect(RdmaCmEventType.ESTABLISHED);
    assertThat(client.id.qp().query(IbvQpAttrMask.TIMEOUT).timeout()).isEqualTo(17);
    assertThat(client.id.qp().query(IbvQpAttrMask.AV).addressVector().trafficClass())
        .isEqualTo(0x68);
  }

  @Test
  void anAddressIsBoundOnceUnlessItMayBeReused() throws Exception {
    InetSocketAddress address = server.listen(RdmaPortSpace.TCP);
    RdmaCmId second = client.channel.createId(RdmaPortSpace.TCP);
    assertThatThrownBy(() -> second.bind(address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(EADDRINUSE));
    RdmaCmId first = client.channel.createId(RdmaPortSpace.TCP);
    first.setReuseAddress(true);
    first.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    RdmaCmId sharing = client.channel.createId(RdmaPortSpace.TCP);
    sharing.setReuseAddress(true);
    sharing.bind(first.localAddress());
    assertThat(sharing.localAddress()).isEqualTo(first.localAddress());
  }

  @Test
  void anIpv6WildcardLeavesIpv4Alone() throws Exception {
    RdmaCmId six = client.channel.createId(RdmaPortSpace.TCP);
    six.setAddressFamilyOnly(true);
    six.bind(new InetSocketAddress(InetAddress.getByName("::"), 0));
    six.listen(1);
    RdmaCmId four = client.channel.createId(RdmaPortSpace.TCP);
    four.bind(new InetSocketAddress(CmNode.deviceAddress(), six.localAddress().getPort()));
    assertThat(four.portNum()).isEqualTo(1);
  }

  @Test
  void anIdWithoutAddressHasNoDevice() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaPortSpace.TCP);
    assertThat(id.localAddress()).isNull();
    assertThat(id.qp()).isNull();
    assertThatThrownBy(id::context).hasMessageContaining("not bound to a device");
  }

  @Test
  void callsOutOfTheirOrderAreRefused() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaPortSpace.TCP);
    id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    assertThatThrownBy(() -> id.resolveRoute(100)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.connect(RdmaConnParam.DEFAULT)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(id::disconnect).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.notifyEvent(IbvEventType.COMM_EST))
        .isInstanceOf(VerbsException.class);
    id.close();
    assertThatThrownBy(() -> id.listen(1)).hasMessageContaining("it is closed");
  }

  @Test
  void anEndpointOfAResolvedNameConnects() throws Exception {
    String host = CmNode.deviceAddress().getHostAddress();
    try (RdmaAddrInfo any = addrInfo(host, "0", RdmaAddrInfo.PASSIVE)) {
      assertThat(any.entries().getFirst().source().getAddress()).isEqualTo(CmNode.deviceAddress());
      RdmaCmId listening = server.channel.createEp(any);
      listening.listen(1);
      String port = String.valueOf(listening.localAddress().getPort());
      try (RdmaAddrInfo address = addrInfo(host, port, RdmaAddrInfo.NUMERICHOST)) {
        assertThat(address.entries().getFirst().destination()).isEqualTo(listening.localAddress());
        client.id = client.channel.createEp(address);
      }
    }
    client.createQp(IbvQpType.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQpType.RC);
    server.id.accept(RdmaConnParam.DEFAULT);
    client.expect(RdmaCmEventType.ESTABLISHED);
    assertThat(client.id.qp().queryState()).isEqualTo(IbvQpState.RTS);
  }

  @Test
  void aNameThatCannotBeResolvedIsAnUnknownHost() {
    assertThatThrownBy(() -> addrInfo("not.an.address", "1", RdmaAddrInfo.NUMERICHOST))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("not.an.address");
  }

  @Test
  void theDevicesAreThoseOfTheKernel() throws Exception {
    try (RdmaDeviceList devices = RdmaDeviceList.get()) {
      assertThat(devices.contexts()).isNotEmpty();
      assertThat(devices.contexts().getFirst().queryDevice().physPortCnt()).isPositive();
    }
  }

  private static RdmaAddrInfo addrInfo(String host, String port, int flags) throws Exception {
    return RdmaAddrInfo.get(
        host, port, new RdmaAddrInfo.Hints(flags, RdmaPortSpace.TCP, IbvQpType.RC));
  }
}
