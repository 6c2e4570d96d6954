// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The line in which the ping-pong programs exchange addresses, and GIDs in the forms of C. */
final class QpAddressTest {
  /** A line that ibv_rc_pingpong sent. */
  private static final String LINE = "0000:00001b:2038e0:00000000000000000000ffff0a00020f\0";

  private static final QpAddress ADDRESS = new QpAddress(0, 0x1b, 0x2038e0, gid("10.0.2.15"));

  @Test
  void isTheLineOfTheProgramsInC() {
    assertThat(ADDRESS.toWire())
        .hasSize(QpAddress.WIRE_LENGTH)
        .isEqualTo(LINE.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void isReadFromTheLineOfTheProgramsInC() throws Exception {
    assertThat(QpAddress.fromWire(LINE.getBytes(StandardCharsets.US_ASCII))).isEqualTo(ADDRESS);
  }

  @Test
  void comesBackWithAllOfItsBits() throws Exception {
    QpAddress address = new QpAddress(0xffff, 0xffffff, 0xfffffe, new Gid(-2, -3));
    assertThat(QpAddress.fromWire(address.toWire())).isEqualTo(address);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GET / HTTP/1.1\r\n", "0000:00001b:2038e0:0"})
  void anythingElseIsRefused(String text) {
    assertThatThrownBy(() -> QpAddress.fromWire(text.getBytes(StandardCharsets.US_ASCII)))
        .hasMessageContaining("no address of a queue pair");
  }

  @Test
  void isPrintedAsTheProgramsInCDo() {
    assertThat(ADDRESS).hasToString("LID 0x0000, QPN 0x00001b, PSN 0x2038e0, GID ::ffff:10.0.2.15");
  }

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
  void gidsAsAddressesAreThoseOfInetNtop(String prefix, String id, String text) {
    assertThat(QpAddress.asAddress(gid(prefix, id))).isEqualTo(text);
  }

  @Test
  void gidsInFullHaveAllDigits() {
    assertThat(QpAddress.inFull(gid("fe80000000000000", "00000000000000ab")))
        .isEqualTo("fe80:0000:0000:0000:0000:0000:0000:00ab");
  }

  private static Gid gid(String address) {
    return Gid.of(IpLiteral.parse(address));
  }

  private static Gid gid(String prefix, String id) {
    return new Gid(Long.parseUnsignedLong(prefix, 16), Long.parseUnsignedLong(id, 16));
  }
}
