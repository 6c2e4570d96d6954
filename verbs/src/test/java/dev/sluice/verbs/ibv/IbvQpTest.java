// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ffi.CValue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Creating, querying and closing queue pairs. */
@NeedsRdmaDevice
class IbvQpTest extends IbvTestCase {
  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UC", "UD"})
  void aQueuePairIsCreatedInResetWithAtLeastTheRequestedCapacity(IbvQp.Type type) throws Exception {
    IbvQp qp = player(type).qp;

    assertThat(qp.type()).isEqualTo(CValue.of(type));
    assertThat(qp.queryState()).isEqualTo(IbvQp.State.RESET);
    assertAtLeast(qp.cap(), CAP);
    assertAtLeast(qp.query(IbvQpAttr.Mask.CAP).cap(), CAP);
  }

  private static void assertAtLeast(IbvQpCap cap, IbvQpCap asked) {
    assertThat(cap.maxSendWr()).isGreaterThanOrEqualTo(asked.maxSendWr());
    assertThat(cap.maxRecvWr()).isGreaterThanOrEqualTo(asked.maxRecvWr());
    assertThat(cap.maxSendSge()).isGreaterThanOrEqualTo(asked.maxSendSge());
    assertThat(cap.maxRecvSge()).isGreaterThanOrEqualTo(asked.maxRecvSge());
    assertThat(cap.maxInlineData()).isGreaterThanOrEqualTo(asked.maxInlineData());
  }

  static Stream<Arguments> excessiveCaps() {
    return Stream.of(
        Arguments.of("send requests", (CapOf) d -> new IbvQpCap(d.maxQpWr() + 1, 1, 1, 1, 0)),
        Arguments.of("receives", (CapOf) d -> new IbvQpCap(1, d.maxQpWr() + 1, 1, 1, 0)),
        Arguments.of("send entries", (CapOf) d -> new IbvQpCap(1, 1, maxSge(d) + 1, 1, 0)),
        Arguments.of("receive entries", (CapOf) d -> new IbvQpCap(1, 1, 1, maxSge(d) + 1, 0)),
        Arguments.of("inline bytes", (CapOf) d -> new IbvQpCap(1, 1, 1, 1, 1 << 20)));
  }

  private static int maxSge(IbvDeviceAttr device) {
    return (int) device.get("orig_attr.max_sge");
  }

  interface CapOf {
    IbvQpCap device(IbvDeviceAttr attr);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("excessiveCaps")
  void capabilitiesBeyondTheDevicesAreRefused(String what, CapOf cap) throws Exception {
    IbvCq cq = context.createCq(1);
    IbvQpCap tooMuch = cap.device(context.queryDevice());

    assertRefused(EINVAL, () -> pd.createQp(IbvQpInitAttr.of(IbvQp.Type.RC, cq, tooMuch)));
  }

  @Test
  void allScatterGatherEntriesOfTheDeviceCanBeAskedFor() throws Exception {
    int maxSge = maxSge(context.queryDevice());
    IbvQpCap cap = new IbvQpCap(4, 4, maxSge, maxSge, 0);

    assertAtLeast(player(pd, IbvQp.Type.RC, cap).qp.cap(), cap);
  }

  @Test
  void aConnectedQueuePairReportsItsAttributes() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);
    IbvQpAttr attr =
        pair.client()
            .qp
            .query(
                IbvQpAttr.Mask.STATE
                    | IbvQpAttr.Mask.PATH_MTU
                    | IbvQpAttr.Mask.DEST_QPN
                    | IbvQpAttr.Mask.AV
                    | IbvQpAttr.Mask.ACCESS_FLAGS
                    | IbvQpAttr.Mask.TIMEOUT
                    | IbvQpAttr.Mask.RETRY_CNT
                    | IbvQpAttr.Mask.RNR_RETRY
                    | IbvQpAttr.Mask.MIN_RNR_TIMER
                    | IbvQpAttr.Mask.PORT
                    | IbvQpAttr.Mask.MAX_QP_RD_ATOMIC
                    | IbvQpAttr.Mask.MAX_DEST_RD_ATOMIC);

    assertThat(attr.state()).isEqualTo(CValue.of(IbvQp.State.RTS));
    assertThat(attr.pathMtu()).isEqualTo(CValue.of(IbvPortAttr.Mtu.MTU_1024));
    assertThat(attr.get("dest_qp_num")).isEqualTo(pair.server().qp.qpNum());
    assertThat(attr.addressVector().dgid()).isEqualTo(gid.gid());
    assertThat(attr.addressVector().sgidIndex()).isEqualTo(gid.index());
    assertThat(attr.addressVector().hopLimit()).isEqualTo(64);
    assertThat(attr.get("qp_access_flags") & ALL_ACCESS & ~IbvMr.Access.LOCAL_WRITE)
        .isEqualTo(ALL_ACCESS & ~IbvMr.Access.LOCAL_WRITE);
    assertThat(attr.get("timeout")).isEqualTo(14);
    assertThat(attr.get("retry_cnt")).isEqualTo(7);
    assertThat(attr.get("rnr_retry")).isEqualTo(7);
    assertThat(attr.get("min_rnr_timer")).isEqualTo(1);
    assertThat(attr.get("port_num")).isEqualTo(PORT);
    assertThat(attr.get("max_rd_atomic")).isGreaterThanOrEqualTo(4);
    assertThat(attr.get("max_dest_rd_atomic")).isGreaterThanOrEqualTo(4);
  }

  @Test
  void queuePairNumbersDifferAndHave24Bits() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);

    assertThat(pair.client().qp.qpNum()).isNotEqualTo(pair.server().qp.qpNum());
    assertThat(pair.client().qp.qpNum()).isBetween(2, 0xffffff);
  }

  @Test
  void closingTwiceDoesNothingAndUseAfterwardsIsRefused() throws Exception {
    IbvQp qp = player(IbvQp.Type.RC).qp;
    qp.close();
    qp.close();

    assertThat(qp.isClosed()).isTrue();
    assertRefused(EINVAL, qp::queryState);
    assertRefused(EINVAL, () -> qp.modify(new IbvQpAttr().state(IbvQp.State.ERR)));
  }

  @Test
  void aCompletionQueueInUseCannotBeClosed() throws Exception {
    Player player = player(IbvQp.Type.RC);

    assertRefused(EBUSY, player.cq::close);
    assertThat(player.cq.isClosed()).isFalse();
    player.qp.close();
    player.cq.close();
  }
}
