// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class LateRdmaShuffleManagerTest {
  private static final String SOFT_FAULTS = "spark.shuffle.rdma.soft.faults";

  private final SparkConf conf =
      new SparkConf(false).set(LateRdmaShuffleManager.FAULTS, "delay=1.0:200");

  @Test
  void oneExecutorHasThePlan() {
    conf.set("spark.executor.id", LateRdmaShuffleManager.EXECUTOR);
    assertThat(LateRdmaShuffleManager.faulty(conf).get(SOFT_FAULTS)).isEqualTo("delay=1.0:200");
  }

  @Test
  void otherExecutorsAndTheDriverHaveNone() {
    assertThat(LateRdmaShuffleManager.faulty(conf).contains(SOFT_FAULTS)).isFalse();
    conf.set("spark.executor.id", "driver");
    assertThat(LateRdmaShuffleManager.faulty(conf).contains(SOFT_FAULTS)).isFalse();
    conf.set("spark.executor.id", "1");
    assertThat(LateRdmaShuffleManager.faulty(conf).contains(SOFT_FAULTS)).isFalse();
  }

  @Test
  void withoutAPlanNoExecutorIsLate() {
    SparkConf none = new SparkConf(false).set("spark.executor.id", LateRdmaShuffleManager.EXECUTOR);
    assertThat(LateRdmaShuffleManager.faulty(none).contains(SOFT_FAULTS)).isFalse();
  }
}
