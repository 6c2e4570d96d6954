// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** Addresses and options of ids on a real device. */
@NeedsRdmaDevice
final class RdmaCmIdTest extends CmTestCase {
  private static final int EADDRINUSE = 98;

  @Test
  void anAddressWithoutAWayIsRefused() throws Exception {
    client.id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("203.0.113.9"), 4711);
    try {
      client.id.resolveAddr(null, nowhere, 500);
    } catch (VerbsException e) {
      assertThat(e).hasMessageContaining("rdma_resolve_addr").hasMessageContaining("unreachable");
      return;
    }
    assertThat(client.expect(RdmaCmEvent.Type.ADDR_ERROR).status()).isNegative();
  }

  @Test
  void acknowledgementTimeoutAndTypeOfServiceReachTheQueuePair() throws Exception {
    client.id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    client.id.setTypeOfService(0x68);
    client.id.setAckTimeout(18);
    client.id.resolveAddr(null, server.listen(RdmaCmId.PortSpace.TCP), CmNode.TIMEOUT_MS);
    client.expect(RdmaCmEvent.Type.ADDR_RESOLVED);
    client.id.resolveRoute(CmNode.TIMEOUT_MS);
    client.expect(RdmaCmEvent.Type.ROUTE_RESOLVED);
    client.createQp(IbvQp.Type.RC);
    client.id.connect(RdmaConnParam.DEFAULT);
    server.request();
    server.createQp(IbvQp.Type.RC);
    server.id.accept(RdmaConnParam.DEFAULT);
    client.expect(RdmaCmEvent.Type.ESTABLISHED);
    assertThat(client.id.qp().query(IbvQpAttr.Mask.TIMEOUT).get("timeout")).isEqualTo(18);
    assertThat(client.id.qp().query(IbvQpAttr.Mask.AV).addressVector().trafficClass())
        .isEqualTo(0x68);
  }

  @Test
  void anAddressIsBoundOnceUnlessItMayBeReused() throws Exception {
    InetSocketAddress address = server.listen(RdmaCmId.PortSpace.TCP);
    RdmaCmId second = client.channel.createId(RdmaCmId.PortSpace.TCP);
    assertThatThrownBy(() -> second.bind(address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(EADDRINUSE));
    RdmaCmId first = client.channel.createId(RdmaCmId.PortSpace.TCP);
    first.setReuseAddress(true);
    first.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    RdmaCmId sharing = client.channel.createId(RdmaCmId.PortSpace.TCP);
    sharing.setReuseAddress(true);
    sharing.bind(first.localAddress());
    assertThat(sharing.localAddress()).isEqualTo(first.localAddress());
  }

  @Test
  void anIpv6WildcardLeavesIpv4Alone() throws Exception {
    RdmaCmId six = client.channel.createId(RdmaCmId.PortSpace.TCP);
    six.setAddressFamilyOnly(true);
    six.bind(new InetSocketAddress(InetAddress.getByName("::"), 0));
    six.listen(1);
    RdmaCmId four = client.channel.createId(RdmaCmId.PortSpace.TCP);
    four.bind(new InetSocketAddress(CmNode.deviceAddress(), six.localAddress().getPort()));
    assertThat(four.portNum()).isEqualTo(1);
  }

  @Test
  void aPathOfAnotherLengthThanInCIsRefused() throws Exception {
    client.id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    client.id.resolveAddr(null, server.listen(RdmaCmId.PortSpace.TCP), CmNode.TIMEOUT_MS);
    client.expect(RdmaCmEvent.Type.ADDR_RESOLVED);
    assertThatThrownBy(() -> client.id.setIbPath(new byte[5]))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
  }

  @Test
  void anIdWithoutAddressHasNoDevice() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    assertThat(id.localAddress()).isNull();
    assertThat(id.qp()).isNull();
    assertThatThrownBy(id::context).hasMessageContaining("not bound to a device");
  }

  @Test
  void callsOutOfTheirOrderAreRefused() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaCmId.PortSpace.TCP);
    id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    assertThatThrownBy(() -> id.resolveRoute(100)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.connect(RdmaConnParam.DEFAULT)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(id::disconnect).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.notifyEvent(IbvAsyncEvent.Type.COMM_EST))
        .isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.getRequest(0))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
    id.close();
    assertThatThrownBy(() -> id.listen(1)).hasMessageContaining("it is closed");
  }

  @Test
  void aNameIsResolvedForTheServerAndForItsClient() throws Exception {
    String host = CmNode.deviceAddress().getHostAddress();
    try (RdmaAddrInfo any = addrInfo(host, "0", RdmaAddrInfo.Flags.PASSIVE);
        RdmaAddrInfo server = addrInfo(host, "4711", RdmaAddrInfo.Flags.NUMERICHOST)) {
      RdmaAddrInfo.Entry passive = any.entries().getFirst();
      assertThat(passive.source().getAddress()).isEqualTo(CmNode.deviceAddress());
      assertThat(passive.qpType()).isEqualTo(CValue.of(IbvQp.Type.RC));
      assertThat(server.entries().getFirst().destination())
          .isEqualTo(new InetSocketAddress(CmNode.deviceAddress(), 4711));
    }
  }

  @Test
  void aNameThatCannotBeResolvedIsAnUnknownHost() {
    assertThatThrownBy(() -> addrInfo("not.an.address", "1", RdmaAddrInfo.Flags.NUMERICHOST))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("not.an.address");
  }

  @Test
  void theDevicesAreThoseOfTheKernel() throws Exception {
    try (RdmaDeviceList devices = RdmaDeviceList.get()) {
      assertThat(devices.contexts()).isNotEmpty();
      assertThat(devices.contexts().getFirst().device().name()).isNotEmpty();
      assertThat(devices.contexts().getFirst().queryDevice()).isNotNull();
    }
  }

  private static RdmaAddrInfo addrInfo(String host, String port, int flags) throws Exception {
    return RdmaAddrInfo.get(
        host, port, new RdmaAddrInfo.Hints(flags, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC));
  }
}
