// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.benchmarks.terasort.SortJob.KeyRanges;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyRangesTest {
  private static final int KEY_BYTES = 10;

  /** Fewer than the sampler takes, so that shares are as even as can be. */
  private static final int RECORDS = 10_000;

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

  @Test
  void splitPointsAscend() {
    assertThatThrownBy(() -> new KeyRanges(new byte[][] {key(0x80), key(0x7F)}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("split point 1 ");
  }

  @Test
  void sampledRangesHaveEvenShares(@TempDir Path directory) throws IOException {
    byte[] records = new byte[RECORDS * TeraData.RECORD_BYTES];
    new Random(1).nextBytes(records);
    Files.write(directory.resolve("part-m-00000"), records);
    KeyRanges sampled =
        KeyRanges.sample(
            new Configuration(),
            new org.apache.hadoop.fs.Path(directory.toUri()),
            16,
            new org.apache.hadoop.fs.Path(directory.resolve("split-points").toUri()));
    int[] shares = new int[16];
    for (int i = 0; i < records.length; i += TeraData.RECORD_BYTES) {
      shares[sampled.getPartition(Arrays.copyOfRange(records, i, i + KEY_BYTES))]++;
    }
    assertThat(Arrays.stream(shares).boxed())
        .allSatisfy(share -> assertThat(share).isCloseTo(RECORDS / 16, within(1)));
  }

  private static byte[] key(int first) {
    byte[] key = new byte[KEY_BYTES];
    key[0] = (byte) first;
    return key;
  }
}
