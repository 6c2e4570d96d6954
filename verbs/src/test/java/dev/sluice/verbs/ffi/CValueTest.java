// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CValueTest {
  private enum Colour implements CConstant {
    NONE(-1),
    RED(4);

    private final int value;

    Colour(int value) {
      this.value = value;
    }

    @Override
    public int value() {
      return value;
    }
  }

  @Test
  void aValueIsFoundAtAnyPosition() {
    assertThat(new CValue<>(Colour.class, 4).known()).contains(Colour.RED);
    assertThat(new CValue<>(Colour.class, -1).known()).contains(Colour.NONE);
  }

  @Test
  void aValueThatTheEnumerationLacksIsANumber() {
    assertThat(new CValue<>(Colour.class, 0).known()).isEmpty();
    assertThat(new CValue<>(Colour.class, 0)).hasToString("0");
  }
}
