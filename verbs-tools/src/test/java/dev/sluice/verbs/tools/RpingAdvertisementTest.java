// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The message of rping. */
final class RpingAdvertisementTest {
  private static final RpingConnection.Advertisement ADVERTISEMENT =
      new RpingConnection.Advertisement(0x5500000179e0L, 0xb0e, 64);
  private static final byte[] WIRE = HexFormat.of().parseHex("00005500000179e000000b0e00000040");

  @Test
  void isAddressKeyAndSizeInNetworkByteOrder() {
    assertThat(ADVERTISEMENT.toWire()).isEqualTo(WIRE);
    assertThat(RpingConnection.Advertisement.fromWire(WIRE)).isEqualTo(ADVERTISEMENT);
  }

  @Test
  void isPrintedWithoutItsKey() {
    assertThat(ADVERTISEMENT.toString()).contains("64 bytes").doesNotContain("b0e");
  }
}
