// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** GIDs in the forms that the C programs print. */
final class PortInfoTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, ::",
    "0, 0000000000000001, ::1",
    "fe80000000000000, 78754bfffe56a5bb, fe80::7875:4bff:fe56:a5bb",
    "0, 0000ffff0a00020f, ::ffff:10.0.2.15",
    "20010db800000000, 0001000000000001, 2001:db8::1:0:0:1",
    "20010db800000001, 0001000100010001, 2001:db8:0:1:1:1:1:1",
    "20010db800010002, 0003000400000000, 2001:db8:1:2:3:4::"
  })
  void addressesAreThoseOfInetNtop(String prefix, String id, String text) {
    assertThat(PortInfo.asAddress(gid(prefix, id))).isEqualTo(text);
  }

  @Test
  void theFullFormHasAllDigits() {
    assertThat(PortInfo.inFull(gid("fe80000000000000", "00000000000000ab")))
        .isEqualTo("fe80:0000:0000:0000:0000:0000:0000:00ab");
  }

  private static Gid gid(String prefix, String id) {
    return new Gid(Long.parseUnsignedLong(prefix, 16), Long.parseUnsignedLong(id, 16));
  }
}
