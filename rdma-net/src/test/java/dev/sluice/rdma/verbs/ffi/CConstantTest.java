package dev.sluice.rdma.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CConstantTest {
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
  void aValueIsFoundWhateverItsPosition() {
    assertThat(CConstant.of(Colour.class, 4)).isEqualTo(Colour.RED);
    assertThat(CConstant.of(Colour.class, -1)).isEqualTo(Colour.NONE);
  }

  @Test
  void aValueThatTheEnumerationLacksIsSaid() {
    assertThatThrownBy(() -> CConstant.of(Colour.class, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Colour has no value 0");
  }
}
