// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class CountersTest {
  private final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);

  @Test
  void eachConstantHasAValueOfItsOwnWhichItsNameShows() {
    Map<String, LongSupplier> byName = counters.byName(counter -> "a." + counter);
    counters.add(TransferCounter.READ_BYTES, 30);
    counters.add(TransferCounter.READ_BYTES, -10);
    counters.increment(TransferCounter.POLLS);
    assertThat(counters.get(TransferCounter.READ_BYTES)).isEqualTo(20);
    assertThat(byName).hasSize(TransferCounter.values().length);
    assertThat(byName.get("a.READ_BYTES").getAsLong()).isEqualTo(20);
    assertThat(byName.get("a.POLLS").getAsLong()).isEqualTo(1);
    assertThat(byName.get("a.POSTS").getAsLong()).isZero();
  }
}
