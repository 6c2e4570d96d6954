package dev.sluice.benchmarks.terasort;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KeyRangesTest {
  private final KeyRanges ranges = new KeyRanges(new byte[][] {key(0x40), key(0x80), key(0xC0)});

  @Test
  void keysAreOrderedAsUnsignedBytes() {
    assertThat(ranges.numPartitions()).isEqualTo(4);
    assertThat(ranges.getPartition(key(0x00))).isZero();
    assertThat(ranges.getPartition(key(0x7F))).isEqualTo(1);
    assertThat(ranges.getPartition(key(0xFF))).isEqualTo(3);
    assertThat(KeyRanges.ORDER.compare(key(0x7F), key(0x80))).isNegative();
  }

  @Test
  void aSplitPointBeginsItsPartition() {
    assertThat(ranges.getPartition(key(0x80))).isEqualTo(2);
  }

  @Test
  void oneRangeTakesAllKeys() {
    KeyRanges one = new KeyRanges(new byte[0][]);
    assertThat(one.numPartitions()).isEqualTo(1);
    assertThat(one.getPartition(key(0xFF))).isZero();
  }

  private static byte[] key(int first) {
    byte[] key = new byte[KeyRanges.KEY_BYTES];
    key[0] = (byte) first;
    return key;
  }
}
