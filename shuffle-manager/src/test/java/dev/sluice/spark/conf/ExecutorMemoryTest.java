// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.conf.MemoryBudget;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ExecutorMemoryTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;

  private final SparkConf conf = new SparkConf(false);

  @Test
  void isAShareOfTheOverheadThatIsSet() {
    conf.set("spark.executor.memoryOverhead", "2g");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(640 * MIB, 256 * MIB, 128 * MIB));
  }

  @Test
  void isAShareOfTheOverheadThatSparkDerives() {
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(120 * MIB, 48 * MIB, 24 * MIB));
    conf.set("spark.executor.memory", "16g").set("spark.executor.memoryOverheadFactor", "0.25");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(1280 * MIB, 512 * MIB, 256 * MIB));
  }

  /** Spark puts the profile's heap into the executor's configuration, and no overhead. */
  @Test
  void profilesWithoutOverheadUseTheDefaultProfilesOverhead() {
    conf.set("spark.executor.memory", "2g").set("spark.executor.memoryOverheadFactor", "0.5");
    ExecutorMemory.announce(conf);
    conf.set("spark.executor.memory", "16g");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(320 * MIB, 128 * MIB, 64 * MIB));
    conf.set("spark.executor.memoryOverhead", "256m");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(80 * MIB, 32 * MIB, 16 * MIB));
  }

  @Test
  void aCopiedConfigurationIsAnnouncedAnew() {
    ExecutorMemory.announce(conf);
    conf.set("spark.executor.memory", "2g").set("spark.executor.memoryOverheadFactor", "0.5");
    ExecutorMemory.announce(conf);
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(320 * MIB, 128 * MIB, 64 * MIB));
  }

  @Test
  void isNoMoreThanHeapAndOffHeapLeaveOfTheContainer() {
    conf.set("spark.executor.memoryOverhead", "8g")
        .set("spark.memory.offHeap.enabled", "true")
        .set("spark.memory.offHeap.size", "1g");
    long limit = HEAP + 1024 * MIB + 512 * MIB;
    assertThat(derive(0.5, OptionalLong.of(limit)))
        .isEqualTo(new MemoryBudget(160 * MIB, 64 * MIB, 32 * MIB));
  }

  @Test
  void staysPositiveIfTheHeapFillsTheContainer() {
    MemoryBudget budget = derive(0.5, OptionalLong.of(HEAP));
    assertThat(budget.bufferBytes()).isEqualTo(4 * MIB);
    assertThat(budget.registrationBytes()).isEqualTo(4 * MIB);
  }

  private MemoryBudget derive(double share, OptionalLong containerLimit) {
    return MemoryBudget.derive(
        new MemoryBudget.Grant(HEAP, ExecutorMemory.offHeap(conf), ExecutorMemory.overhead(conf)),
        share,
        containerLimit);
  }
}
