// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.verbs.GidPolicy.AddressRange;
import dev.sluice.verbs.IpLiteral;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

  @ParameterizedTest
  @CsvSource({
    "10.1.0.0/16,   10.1.255.7,  true",
    "10.1.0.0/16,   10.2.0.1,    false",
    "10.1.3.4/32,   10.1.3.4,    true",
    "10.1.3.4/32,   10.1.3.5,    false",
    "0.0.0.0/0,     192.168.1.1, true",
    "0.0.0.0/0,     2001:db8::1, false",
    "192.168.0.0/23, 192.168.1.9, true",
    "2001:db8::/32, 2001:db8::1, true",
    "2001:db8::/32, 2001:db9::1, false",
    "::/0,          10.0.0.1,    false"
  })
  void containsAddressesWithItsPrefix(String range, String address, boolean inside) {
    assertThat(AddressRange.parse(range).contains(IpLiteral.parse(address))).isEqualTo(inside);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "host/8", "/8", "10.0.0.0/x"})
  void refusesTextThatIsNotARange(String text) {
    assertThatThrownBy(() -> AddressRange.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
