// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Protection domains, and the order in which parents close their children. */
@NeedsRdmaDevice
class IbvPdTest extends IbvTestCase {
  @Test
  void manyDomainsAreAllocated() throws Exception {
    List<IbvPd> domains = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      domains.add(context.allocPd());
    }

    for (IbvPd domain : domains) {
      domain.close();
      assertThat(domain.isClosed()).isTrue();
    }
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    pd.close();
    pd.close();

    assertRefused(EINVAL, () -> pd.regMr(allocate(PAGE_BYTES), IbvMr.Access.LOCAL_WRITE));
  }

  @Test
  void closingClosesAllThatWasMadeOfTheDomain() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);
    IbvSrq srq = pd.createSrq(8, 1);
    IbvAh ah = pd.createAh(new Connection(gid).address());

    pd.close();

    assertThat(List.of(pair.client().qp, pair.client().mr, pair.server().qp, srq, ah))
        .allMatch(object -> object.isClosed());
    assertThat(pair.client().cq.isClosed()).isFalse();
  }

  @Test
  void closingTheContextClosesEverything() throws Exception {
    IbvCompChannel channel = context.createCompChannel();
    IbvCq cq = context.createCq(16, channel, 0);
    Player player = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP));

    context.close();
    context.close();

    assertThat(List.of(channel, cq, player.qp, player.mr, pd)).allMatch(o -> o.isClosed());
    assertRefused(EINVAL, context::allocPd);
  }

  @Test
  void callsWithAClosedObjectAreRefused() throws VerbsException {
    IbvPd other = context.allocPd();
    other.close();
    IbvMr mr = pd.regMr(allocate(PAGE_BYTES), IbvMr.Access.LOCAL_WRITE);

    assertRefused(EINVAL, () -> mr.rereg(IbvMr.Rereg.CHANGE_PD, other, null, 0));
  }
}
