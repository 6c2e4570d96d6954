// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static dev.sluice.testkit.Shuffle.SLUICE;
import static dev.sluice.testkit.Shuffle.STOCK;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShuffleTest {
  @Test
  void theOrderIsReversedEachRound() {
    assertThat(Shuffle.inTurn(0)).containsExactly(SLUICE, STOCK);
    assertThat(Shuffle.inTurn(1)).containsExactly(STOCK, SLUICE);
  }
}
