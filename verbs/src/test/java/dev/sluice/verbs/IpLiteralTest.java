// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpLiteralTest {
  @ParameterizedTest
  @CsvSource({
    "10.0.0.8, 10.0.0.8",
    "255.249.99.0, 255.249.99.0",
    "fe80::1, fe80:0:0:0:0:0:0:1",
    "::1, 0:0:0:0:0:0:0:1",
    "::ffff:10.0.0.8, 10.0.0.8"
  })
  void anAddressIsParsed(String text, String address) {
    InetAddress parsed = IpLiteral.parse(text);
    assertThat(parsed.getHostAddress()).isEqualTo(address);
  }

  /** A name server that answers everything would make them valid. */
  @ParameterizedTest
  @ValueSource(
      strings = {"", "localhost", "300.1.1.1", "1.2.3", "1.2.3.4.5", "net:1", "dead.beef", "fe80"})
  void aNameIsNotLookedUp(String text) {
    assertThatThrownBy(() -> IpLiteral.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not an IP address");
  }
}
