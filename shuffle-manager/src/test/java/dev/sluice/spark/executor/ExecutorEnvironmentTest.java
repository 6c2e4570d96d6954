// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.junit.jupiter.api.Test;

class ExecutorEnvironmentTest {
  private final SparkConf conf = new SparkConf(false);

  @Test
  void theCoresAreThoseThatSparkDividesTheExecutorsMemoryBy() {
    conf.set("spark.testing.memory", String.valueOf(1L << 30));
    assertThat(ExecutorEnvironment.cores(UnifiedMemoryManager.apply(conf, 7))).isEqualTo(7);
  }

  @Test
  void inLocalModeTheMasterSetsTheCores() {
    conf.setMaster("local[5]")
        .setAppName("test")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.executor.cores", "1");
    try (JavaSparkContext _ = new JavaSparkContext(conf)) {
      assertThat(ExecutorEnvironment.cores(SparkEnv.get().memoryManager())).isEqualTo(5);
    }
  }
}
