// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

final class RdmaConnParamTest {
  @Test
  void allMembersReachC() throws Exception {
    RdmaConnParam param =
        RdmaConnParam.DEFAULT.with(
            p -> {
              p.privateData = new byte[] {1, 2, 3};
              p.responderResources = 4;
              p.initiatorDepth = 5;
              p.flowControl = true;
              p.retryCount = 6;
              p.rnrRetryCount = 7;
              p.srq = true;
              p.qpNum = 0xabcdef;
            });
    try (Arena arena = Arena.ofConfined()) {
      RdmaConnParam read =
          RdmaConnParam.read(param.write(arena, "rdma_connect"), param.privateData());
      assertThat(read).isEqualTo(param);
    }
  }

  @Test
  void aNumberThatDoesNotFitIsRefusedByItsName() {
    RdmaConnParam param = RdmaConnParam.DEFAULT.with(p -> p.responderResources = 256);
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> param.write(arena, "rdma_connect"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("responder_resources is 256");
    }
  }
}
