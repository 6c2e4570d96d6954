// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.verbs.VerbsOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TypeTest {
  private static final Type<Integer> CLASS = Type.autoOr(0, 255);
  private static final Type<Integer> MTU = Type.autoOrOneOf(1024, 4096);

  @Test
  void aNumberIsDecimalOrHexadecimal() {
    assertThat(CLASS.parse("key", "auto")).isEqualTo(VerbsOptions.AUTO);
    assertThat(CLASS.parse("key", " 010 ")).isEqualTo(10);
    assertThat(CLASS.parse("key", "0x1f")).isEqualTo(31);
    assertThat(MTU.parse("key", "4096")).isEqualTo(4096);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "0x-1", "4294967295", "256", "", "0x", "Auto"})
  void otherTextsAreRefused(String text) {
    assertThatThrownBy(() -> CLASS.parse("key", text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("key is \"%s\", but must be auto, or a whole number from 0 to 255", text);
    assertThatThrownBy(() -> MTU.parse("key", text)).isInstanceOf(IllegalArgumentException.class);
  }
}
