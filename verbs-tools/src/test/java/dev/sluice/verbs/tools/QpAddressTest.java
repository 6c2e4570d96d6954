// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The line in which the ping-pong programs exchange addresses. */
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

  private static Gid gid(String address) {
    return Gid.of(IpLiteral.parse(address));
  }
}
