// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The global route header before a datagram. */
class IbvGrhTest {
  private static final String HEADER =
      "6ab12345"
          + "01f4"
          + "1b"
          + "40"
          + "fe800000000000000000000000000001"
          + "ff0e0000000000000000000000000002";

  private static MemorySegment received(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
  }

  @Test
  void membersAreReadInNetworkByteOrder() {
    IbvGrh grh = new IbvGrh(received(HEADER + "cafe"));

    assertThat(grh.version()).isEqualTo(6);
    assertThat(grh.trafficClass()).isEqualTo(0xab);
    assertThat(grh.flowLabel()).isEqualTo(0x12345);
    assertThat(grh.payloadLength()).isEqualTo(500);
    assertThat(grh.nextHeader()).isEqualTo(0x1b);
    assertThat(grh.hopLimit()).isEqualTo(64);
    assertThat(grh.sgid()).isEqualTo(new Gid(0xfe80L << 48, 1));
    assertThat(grh.dgid()).isEqualTo(new Gid(0xff0eL << 48, 2));
  }

  @Test
  void fewerBytesAreRefused() {
    assertThatThrownBy(() -> new IbvGrh(received(HEADER).asSlice(1)))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** The upper six bits are folded into the lower fourteen bits. */
  @Test
  void portsAreDerivedFromFlowLabels() {
    assertThat(IbvGrh.udpSourcePort(0)).isEqualTo(0xc000);
    assertThat(IbvGrh.udpSourcePort(0x3fff)).isEqualTo(0xffff);
    assertThat(IbvGrh.udpSourcePort(0x4001)).isEqualTo(0xc000);
  }
}
