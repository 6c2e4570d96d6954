// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses to which a daemon binds its ports. */
class ApplicationPortTest {
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "127.0.0.2"})
  void loopbackAddressesAreBoundAlone(String host) throws IOException {
    assertThat(ApplicationPort.bindAddress(host)).isEqualTo(host);
  }

  @Test
  void allAddressesAreBoundIfTheMachineLacksTheOneThatReadersUse() throws IOException {
    assertThat(ApplicationPort.bindAddress("192.0.2.1")).isNull();
  }
}
