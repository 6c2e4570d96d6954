// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import org.apache.logging.log4j.Level;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors that the driver reports before anything runs. */
class RdmaShuffleTest {
  private final SparkConf conf =
      new SparkConf(false).set("spark.authenticate", "true").set("spark.master", "yarn");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.network.crypto.enabled",
        "spark.authenticate.enableSaslEncryption",
        "spark.ssl.rpc.enabled"
      })
  void theDriverReportsThatNothingIsReadIfSparkEncryptsItsNetwork(String key) {
    conf.set(key, "true");
    assertWarns("Remote shuffle blocks go by Spark's own transfer, which is encrypted");
    conf.set("spark.shuffle.rdma.allowPlaintext", "true");
    assertWarns();
  }

  @Test
  void theDriverReportsWhyBlocksAreNotRead() {
    assertWarns();
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertWarns("Shuffle blocks are not READ, because spark.shuffle.useOldFetchProtocol is true");
  }

  private void assertWarns(String... beginnings) {
    try (LogCapture log = new LogCapture(SluiceShuffle.class, Level.WARN);
        RdmaShuffle rdma = RdmaShuffle.create(conf, true, new IndexShuffleBlockResolver(conf))) {
      assertThat(rdma.resolver()).isNotNull();
      assertThat(log.messages()).hasSize(beginnings.length);
      for (int i = 0; i < beginnings.length; i++) {
        assertThat(log.messages().get(i)).startsWith(beginnings[i]);
      }
    }
  }
}
