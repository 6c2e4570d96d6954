// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceFilterTest {

  @ParameterizedTest
  @CsvSource({
    "mlx5_0,           mlx5_0, 1, true",
    "mlx5_0,           mlx5_0, 2, true",
    "mlx5_0,           mlx5_1, 1, false",
    "mlx5_1,           mlx5_10, 1, true",
    "mlx5,             mlx5_3, 1, true",
    "mlx5_0:1,         mlx5_0, 1, true",
    "mlx5_0:1,         mlx5_0, 2, false",
    "'mlx5_0:1,mlx5_1', mlx5_1, 2, true",
    "'mlx5_0:1, rxe0',  rxe0, 1, true",
    "=mlx5_1,          mlx5_10, 1, false",
    "=mlx5_1:2,        mlx5_1, 2, true",
    "^mlx5_1,          mlx5_1, 1, false",
    "^mlx5_1,          mlx5_10, 1, false",
    "^mlx5_1,          mlx5_0, 1, true",
    "^=mlx5_1,         mlx5_10, 1, true",
    "^mlx5_1:2,        mlx5_1, 1, true"
  })
  void letsPortsPassAsNcclDoes(String text, String device, int port, boolean passes) {
    assertThat(DeviceFilter.parse(text).matches(device, port)).isEqualTo(passes);
  }

  @Test
  void anyLetsAllPass() {
    assertThat(DeviceFilter.ANY.matches("rxe0", 1)).isTrue();
  }

  @Test
  void isWrittenAsItWasRead() {
    assertThat(DeviceFilter.parse("^=mlx5_0:1,mlx5_1")).hasToString("^=mlx5_0:1,mlx5_1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "^", "=", "mlx5_0,", ":1", "mlx5_0:", "mlx5_0:x", "mlx5_0:0"})
  void refusesTextThatIsNotAListOfPorts(String text) {
    assertThatThrownBy(() -> DeviceFilter.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
