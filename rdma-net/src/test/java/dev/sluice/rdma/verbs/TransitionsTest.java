// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TransitionsTest {
  private static final ConnectionAttributes ATTRIBUTES =
      ConnectionAttributes.DEFAULT.with(
          c -> {
            c.rnrRetry = 5;
            c.maxRdAtomic = 16;
          });
  private static final QueuePairAddress LOCAL = address("10.0.0.1", 0, 0x111111, 4096, 8);

  private static QueuePairAddress address(
      String gid, int lid, int psn, int mtu, int maxDestRdAtomic) {
    return new QueuePairAddress(
        0x123456, psn, lid, Gid.of(IpLiteral.parse(gid)), mtu, maxDestRdAtomic, new byte[0]);
  }

  private static ChosenPort port(TestPorts ports) {
    PortInfo port = ports.build();
    return new ChosenPort(port, port.gids().getLast(), 2, 106, 3, 4096, 64);
  }

  private static ChosenPort roce() {
    return port(
        TestPorts.roce("mlx5_0")
            .number(2)
            .gid(5, "10.0.0.1", GidEntry.Type.ROCE_V2)
            .pKeys(1, 2, 3));
  }

  private static ChosenPort infiniBand() {
    return port(TestPorts.infiniBand("mlx5_0").gid(0, "fe80::1", GidEntry.Type.IB));
  }

  @Test
  void initTakesPortPartitionAndAccess() {
    IbvQpAttr attr = Transitions.toInit(roce(), EnumSet.of(AccessFlag.REMOTE_READ));
    assertThat(attr.mask())
        .isEqualTo(
            IbvQpAttr.Mask.STATE
                | IbvQpAttr.Mask.PKEY_INDEX
                | IbvQpAttr.Mask.PORT
                | IbvQpAttr.Mask.ACCESS_FLAGS);
    assertThat(attr.state()).isEqualTo(CValue.of(IbvQp.State.INIT));
    assertThat(attr.get("port_num")).isEqualTo(2);
    assertThat(attr.get("pkey_index")).isEqualTo(2);
    assertThat(attr.get("qp_access_flags")).isEqualTo(IbvMr.Access.REMOTE_READ);
    assertThat(Transitions.toInit(roce(), Set.of()).get("qp_access_flags")).isZero();
  }

  @Test
  void rtrTakesThePeersAddressAndTheSmallerMtu() {
    QueuePairAddress remote = address("10.0.0.2", 0, 0x222222, 1024, 4);
    IbvQpAttr attr = Transitions.toRtr(roce(), LOCAL, remote, ATTRIBUTES);
    assertThat(attr.mask())
        .isEqualTo(
            IbvQpAttr.Mask.STATE
                | IbvQpAttr.Mask.AV
                | IbvQpAttr.Mask.PATH_MTU
                | IbvQpAttr.Mask.DEST_QPN
                | IbvQpAttr.Mask.RQ_PSN
                | IbvQpAttr.Mask.MAX_DEST_RD_ATOMIC
                | IbvQpAttr.Mask.MIN_RNR_TIMER);
    assertThat(attr.state()).isEqualTo(CValue.of(IbvQp.State.RTR));
    assertThat(attr.pathMtu()).isEqualTo(CValue.of(IbvPortAttr.Mtu.MTU_1024));
    assertThat(attr.get("dest_qp_num")).isEqualTo(0x123456);
    assertThat(attr.get("rq_psn")).isEqualTo(0x222222);
    assertThat(attr.get("max_dest_rd_atomic")).isEqualTo(8);
    assertThat(attr.get("min_rnr_timer")).isEqualTo(12);
  }

  @Test
  void roceHasAGlobalRoute() {
    QueuePairAddress remote = address("10.0.0.2", 0, 1, 4096, 4);
    assertThat(Transitions.toRtr(roce(), LOCAL, remote, ATTRIBUTES).addressVector())
        .isEqualTo(
            IbvAhAttr.ZERO.with(
                ah -> {
                  ah.global = true;
                  ah.dgid = remote.gid();
                  ah.sgidIndex = 5;
                  ah.hopLimit = 64;
                  ah.trafficClass = 106;
                  ah.serviceLevel = 3;
                  ah.port = 2;
                }));
  }

  @Test
  void infiniBandHasAGlobalRouteToOtherSubnetsOnly() {
    QueuePairAddress near = address("fe80::2", 7, 1, 4096, 4);
    QueuePairAddress far = address("fec0:0:9:5::2", 7, 1, 4096, 4);
    QueuePairAddress withoutRouters = address("fec0:0:0:5::2", 7, 1, 4096, 4);
    assertThat(Transitions.toRtr(infiniBand(), LOCAL, near, ATTRIBUTES).addressVector())
        .matches(vector -> !vector.global() && vector.dlid() == 7 && vector.serviceLevel() == 3);
    assertThat(Transitions.toRtr(infiniBand(), LOCAL, far, ATTRIBUTES).addressVector())
        .matches(vector -> vector.global() && vector.dlid() == 9);
    assertThat(Transitions.toRtr(infiniBand(), LOCAL, withoutRouters, ATTRIBUTES).addressVector())
        .matches(vector -> vector.global() && vector.dlid() == 7);
  }

  @Test
  void aPortThatSharesItsLidHasAGlobalRouteWithinItsSubnet() {
    QueuePairAddress near = address("fe80::2", 7, 1, 4096, 4);
    ChosenPort shared =
        port(TestPorts.infiniBand("mlx5_0").requiringGrh().gid(0, "fe80::1", GidEntry.Type.IB));
    assertThat(Transitions.toRtr(shared, LOCAL, near, ATTRIBUTES).addressVector())
        .matches(vector -> vector.global() && vector.dlid() == 7)
        .matches(vector -> vector.dgid().equals(near.gid()) && vector.hopLimit() == 64);
  }

  /** Without a global route, the packets would go to another port with the same LID. */
  @Test
  void aPeerThatSharesItsLidIsReachedByAGlobalRoute() {
    QueuePairAddress shared =
        new QueuePairAddress(
            0x123456,
            1,
            7,
            Gid.of(IpLiteral.parse("fe80::2")),
            4096,
            4,
            ControlHandshake.providerData(true, Ece.NONE));
    assertThat(Transitions.toRtr(infiniBand(), LOCAL, shared, ATTRIBUTES).addressVector())
        .matches(vector -> vector.global() && vector.dlid() == 7);
  }

  @Test
  void rtsTakesNoMoreReadsThanThePeerServes() {
    QueuePairAddress remote = address("10.0.0.2", 0, 1, 4096, 4);
    IbvQpAttr attr = Transitions.toRts(LOCAL, remote, ATTRIBUTES, 7);
    assertThat(attr.mask())
        .isEqualTo(
            IbvQpAttr.Mask.STATE
                | IbvQpAttr.Mask.TIMEOUT
                | IbvQpAttr.Mask.RETRY_CNT
                | IbvQpAttr.Mask.RNR_RETRY
                | IbvQpAttr.Mask.SQ_PSN
                | IbvQpAttr.Mask.MAX_QP_RD_ATOMIC);
    assertThat(attr.state()).isEqualTo(CValue.of(IbvQp.State.RTS));
    assertThat(attr.get("timeout")).isEqualTo(18);
    assertThat(attr.get("retry_cnt")).isEqualTo(7);
    assertThat(attr.get("rnr_retry")).isEqualTo(5);
    assertThat(attr.get("sq_psn")).isEqualTo(0x111111);
    assertThat(attr.get("max_rd_atomic")).isEqualTo(4);
  }

  @Test
  void retriesStayBelowTheValueThatMeansForever() {
    QueuePairAddress remote = address("10.0.0.2", 0, 1, 4096, 4);
    assertThat(Transitions.toRts(LOCAL, remote, ATTRIBUTES, 6).get("retry_cnt")).isEqualTo(6);
  }
}
