// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.soft.SoftRegion.KeySequence;
import java.security.SecureRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeySequenceTest {

  @Test
  void doesNotRepeatKeys() {
    KeySequence keys = new KeySequence(new SecureRandom());
    int count = 200_000;
    assertThat(IntStream.generate(keys::next).limit(count).distinct().count()).isEqualTo(count);
  }

  @Test
  void scattersNeighbours() {
    KeySequence keys = new KeySequence(new SecureRandom());
    int differingBits = 0;
    int count = 10_000;
    int previous = keys.next();
    for (int i = 0; i < count; i++) {
      int key = keys.next();
      differingBits += Integer.bitCount(key ^ previous);
      previous = key;
    }
    assertThat(differingBits / (double) count).isBetween(15.0, 17.0);
  }
}
