// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ChaosShuffleManagerTest {
  @Test
  void sparkIsToldThatMapOutputsOutliveTheirExecutors() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.node", "required");
    new ChaosShuffleManager(conf, true);

    assertThat(conf.contains("spark.shuffle.rdma.node.incarnation")).isTrue();
    assertThat(conf.get("spark.shuffle.sort.io.plugin.class")).endsWith("NodeShuffleDataIO");
  }
}
