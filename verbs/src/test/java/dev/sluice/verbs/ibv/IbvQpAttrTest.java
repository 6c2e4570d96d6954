// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.Gid;
import org.junit.jupiter.api.Test;

/** Attributes of a queue pair, each with its bit of the mask. */
class IbvQpAttrTest {
  @Test
  void eachAttributeSetsItsBit() {
    IbvAhAttr path =
        IbvAhAttr.ZERO.with(
            ah -> {
              ah.global = true;
              ah.dgid = new Gid(1, 2);
              ah.port = 2;
            });
    IbvQpCap cap = new IbvQpCap(1, 2, 3, 4, 5);
    IbvQpAttr attr =
        new IbvQpAttr()
            .curState(IbvQp.State.RTS)
            .cap(cap)
            .alternatePath(path, 7, 14)
            .pathMigState(IbvQp.MigState.REARM)
            .rateLimit(1_000_000);

    assertThat(attr.mask())
        .isEqualTo(
            IbvQpAttr.Mask.CUR_STATE
                | IbvQpAttr.Mask.CAP
                | IbvQpAttr.Mask.ALT_PATH
                | IbvQpAttr.Mask.PATH_MIG_STATE
                | IbvQpAttr.Mask.RATE_LIMIT);
    assertThat(attr.curState().is(IbvQp.State.RTS)).isTrue();
    assertThat(attr.cap()).isEqualTo(cap);
    assertThat(attr.alternatePath()).isEqualTo(path);
    assertThat(attr.get("alt_port_num")).isEqualTo(2);
    assertThat(attr.get("alt_pkey_index")).isEqualTo(7);
    assertThat(attr.get("alt_timeout")).isEqualTo(14);
    assertThat(attr.pathMigState().is(IbvQp.MigState.REARM)).isTrue();
    assertThat(attr.get("rate_limit")).isEqualTo(1_000_000);
  }
}
