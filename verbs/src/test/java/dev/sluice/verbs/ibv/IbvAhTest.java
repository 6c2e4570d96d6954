// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import org.junit.jupiter.api.Test;

/** Address handles. */
@NeedsRdmaDevice
class IbvAhTest extends IbvTestCase {
  private static final int ENODATA = 61;

  @Test
  void aHandleIsCreatedAndClosedTwice() throws Exception {
    IbvAh ah = pd.createAh(new Connection(gid).address());
    ah.close();
    ah.close();

    assertThat(ah.isClosed()).isTrue();
  }

  @Test
  void aRoceAddressNeedsAGlobalRoute() throws Exception {
    assumeThat(isRoce()).as("RoCE").isTrue();

    assertRefused(EINVAL, () -> pd.createAh(IbvAhAttr.ZERO.with(ah -> ah.port = PORT)));
  }

  @Test
  void aPortThatDoesNotExistIsRefused() throws Exception {
    int beyond = context.queryDevice().physPortCnt() + 1;

    IbvAhAttr address = new Connection(gid).address().with(ah -> ah.port = beyond);
    assertRefused(EINVAL, () -> pd.createAh(address));
  }

  @Test
  void anIndexWithoutAGidIsRefused() throws Exception {
    int empty = context.queryPort(PORT).gidTblLen() - 1;

    IbvAhAttr address = new Connection(gid).address().with(ah -> ah.sgidIndex = empty);
    assertRefused(ENODATA, () -> pd.createAh(address));
  }

  @Test
  void aHandleThatWasClosedIsRefusedInARequest() throws Exception {
    IbvAh ah = pd.createAh(new Connection(gid).address());
    ah.close();
    Player player = player(IbvQp.Type.UD);

    assertRefused(
        EINVAL,
        () -> player.request(IbvSendWrList.Opcode.SEND, 8).datagram(ah, player.qp.qpNum(), QKEY));
  }
}
