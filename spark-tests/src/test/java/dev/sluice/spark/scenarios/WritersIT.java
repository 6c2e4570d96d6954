// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Map outputs of each of Spark's three writers are READ, however the files are written. */
final class WritersIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int BYPASS_THRESHOLD = 20;

  @ParameterizedTest(name = "compressed {0}, encrypted {1}, checksums {2}")
  @CsvSource({"true, false, true", "false, false, true", "true, true, true", "true, false, false"})
  void blocksOfEveryWriterAreRead(boolean compressed, boolean encrypted, boolean checksums) {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
            "spark.shuffle.sort.bypassMergeThreshold", Integer.toString(BYPASS_THRESHOLD),
            "spark.shuffle.compress", Boolean.toString(compressed),
            "spark.io.encryption.enabled", Boolean.toString(encrypted),
            "spark.shuffle.checksum.enabled", Boolean.toString(checksums))) {
      JavaSparkContext context = cluster.context();

      JavaPairRDD<Integer, byte[]> bypass = DATA.repartitioned(context, BYPASS_THRESHOLD);
      assertThat(KnownShuffle.answerOf(bypass)).isEqualTo(DATA.answer());
      assertThat(writer(bypass)).isEqualTo("BypassMergeSortShuffleHandle");

      JavaPairRDD<Integer, byte[]> serialized = DATA.repartitioned(context, BYPASS_THRESHOLD + 1);
      assertThat(KnownShuffle.answerOf(serialized)).isEqualTo(DATA.answer());
      assertThat(writer(serialized)).isEqualTo("SerializedShuffleHandle");

      JavaPairRDD<Integer, Long> sorted = DATA.combined(context, BYPASS_THRESHOLD);
      assertThat(sorted.collectAsMap()).isEqualTo(DATA.answer());
      assertThat(writer(sorted)).isEqualTo("BaseShuffleHandle");

      PathAssert.allRead(cluster);
    }
  }

  private static String writer(JavaPairRDD<?, ?> rdd) {
    return KnownShuffle.handle(rdd).getClass().getSimpleName();
  }
}
