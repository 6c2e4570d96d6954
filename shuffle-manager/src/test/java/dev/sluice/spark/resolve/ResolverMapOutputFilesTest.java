// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResolverMapOutputFilesTest {
  @Test
  void sparksChecksumsAreTrustedByDefault() {
    assertThat(ResolverMapOutputFiles.checksumsMatchFiles(new SparkConf(false))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "spark.shuffle.checksum.enabled, false",
    "spark.io.encryption.enabled, true",
    "spark.shuffle.unsafe.fastMergeEnabled, false"
  })
  void checksumsOfReencodedFilesAreNotTrusted(String key, String value) {
    SparkConf conf = new SparkConf(false).set(key, value);
    assertThat(ResolverMapOutputFiles.checksumsMatchFiles(conf)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"lz4", "snappy", "zstd", "lzf"})
  void codecsThatConcatenateKeepChecksums(String codec) {
    SparkConf conf = new SparkConf(false).set("spark.io.compression.codec", codec);
    assertThat(ResolverMapOutputFiles.checksumsMatchFiles(conf)).isTrue();
  }
}
