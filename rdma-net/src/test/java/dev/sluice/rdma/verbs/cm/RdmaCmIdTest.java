package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ibv.IbvQpAttrMask;
import dev.sluice.rdma.verbs.ibv.IbvQpType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Addresses and options of ids on a real device. */
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
  void theTypeOfServiceReachesTheQueuePair() throws Exception {
    client.id = client.channel.createId(RdmaPortSpace.TCP);
    client.id.setTypeOfService(0x68);
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
    assertThat(client.verbs.qp().query(IbvQpAttrMask.AV).addressVector().trafficClass())
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
  void anIdWithoutAddressHasNoDevice() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaPortSpace.TCP);
    assertThat(id.localAddress()).isNull();
    assertThatThrownBy(id::context).hasMessageContaining("not bound to a device");
  }

  @Test
  void callsOutOfTheirOrderAreRefused() throws Exception {
    RdmaCmId id = client.channel.createId(RdmaPortSpace.TCP);
    id.bind(new InetSocketAddress(CmNode.deviceAddress(), 0));
    assertThatThrownBy(() -> id.resolveRoute(100)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> id.connect(RdmaConnParam.DEFAULT)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(id::disconnect).isInstanceOf(VerbsException.class);
    id.close();
    assertThatThrownBy(() -> id.listen(1)).hasMessageContaining("it is closed");
  }
}
