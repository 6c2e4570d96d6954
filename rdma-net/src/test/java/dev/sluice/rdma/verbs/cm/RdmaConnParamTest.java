package dev.sluice.rdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

final class RdmaConnParamTest {
  @Test
  void allMembersReachC() throws Exception {
    RdmaConnParam param = new RdmaConnParam(new byte[] {1, 2, 3}, 4, 5, true, 6, 7, true, 0xabcdef);
    try (Arena arena = Arena.ofConfined()) {
      RdmaConnParam read =
          RdmaConnParam.read(param.write(arena, "rdma_connect"), param.privateData());
      assertThat(read).isEqualTo(param);
    }
  }

  @Test
  void aNumberThatDoesNotFitIsRefusedByItsName() {
    RdmaConnParam param = new RdmaConnParam(new byte[0], 256, 1, false, 7, 7, false, 0);
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> param.write(arena, "rdma_connect"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("responder_resources is 256");
    }
  }
}
