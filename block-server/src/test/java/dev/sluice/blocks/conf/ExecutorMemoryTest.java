// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutorMemoryTest {
  private static final long MIB = 1L << 20;
  private static final long HEAP = 1024 * MIB;

  private final Map<String, String> conf = new HashMap<>();

  @Test
  void isAShareOfTheOverheadThatIsSet() {
    conf.put("spark.executor.memoryOverhead", "2g");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(640 * MIB, 256 * MIB, 128 * MIB));
  }

  @Test
  void isAShareOfTheOverheadThatSparkDerives() {
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(120 * MIB, 48 * MIB, 24 * MIB));
    conf.put("spark.executor.memory", "16g");
    conf.put("spark.executor.memoryOverheadFactor", "0.25");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(1280 * MIB, 512 * MIB, 256 * MIB));
  }

  /** Spark puts the profile's heap into the executor's configuration, and no overhead. */
  @Test
  void profilesWithoutOverheadUseTheDefaultProfilesOverhead() {
    conf.put("spark.shuffle.rdma.defaultMemoryOverhead", "1024m");
    conf.put("spark.executor.memory", "16g");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(320 * MIB, 128 * MIB, 64 * MIB));
    conf.put("spark.executor.memoryOverhead", "256m");
    assertThat(derive(0.5, OptionalLong.empty()))
        .isEqualTo(new MemoryBudget(80 * MIB, 32 * MIB, 16 * MIB));
  }

  @Test
  void isNoMoreThanHeapAndOffHeapLeaveOfTheContainer() {
    conf.put("spark.executor.memoryOverhead", "8g");
    conf.put("spark.memory.offHeap.enabled", "true");
    conf.put("spark.memory.offHeap.size", "1g");
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

  /** Spark's keys of memory are in MiB; only the size of off-heap memory is in bytes. */
  @Test
  void numbersWithoutAUnitAreInMebibytes() {
    conf.put("spark.executor.memory", "2048");
    conf.put("spark.executor.memoryOverhead", "512");
    conf.put("spark.executor.pyspark.memory", "100");
    assertThat(ExecutorMemory.heap(conf::get)).isEqualTo(2048 * MIB);
    assertThat(ExecutorMemory.overhead(conf::get)).isEqualTo(512 * MIB);
    assertThat(ExecutorMemory.offHeap(conf::get)).isEqualTo(100 * MIB);
  }

  @Test
  void theContainerHasAllMemory() {
    conf.put("spark.executor.memory", "8g");
    conf.put("spark.executor.memoryOverhead", "1g");
    conf.put("spark.executor.pyspark.memory", "512m");
    assertThat(ExecutorMemory.container(conf::get)).isEqualTo((8192 + 1024 + 512) * MIB);
  }

  @Test
  void tasksTakeTheirCores() {
    assertThat(ExecutorMemory.tasks(conf::get, 8)).isEqualTo(8);
    conf.put("spark.task.cpus", "3");
    assertThat(ExecutorMemory.tasks(conf::get, 8)).isEqualTo(2);
    assertThat(ExecutorMemory.tasks(conf::get, 2)).isOne();
    conf.put("spark.task.cpus", "0");
    assertThatThrownBy(() -> ExecutorMemory.tasks(conf::get, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("spark.task.cpus", "\"0\"");
  }

  @Test
  void aValueThatIsNoSizeIsNamed() {
    conf.put("spark.executor.memoryOverhead", "2 potatoes");
    assertThatThrownBy(() -> ExecutorMemory.overhead(conf::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("spark.executor.memoryOverhead", "2 potatoes");
  }

  /** Spark refuses such a factor, and a product of it is no overhead. */
  @ParameterizedTest
  @ValueSource(strings = {"0", "-0.1", "NaN", "Infinity", "1e30", "tenth"})
  void aFactorIsANumberAboveZero(String factor) {
    conf.put("spark.executor.memoryOverheadFactor", factor);
    assertThatThrownBy(() -> ExecutorMemory.overhead(conf::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("spark.executor.memoryOverheadFactor", "\"" + factor + "\"");
    assertThat(ExecutorMemory.refusals(conf))
        .containsOnlyKeys("spark.executor.memoryOverheadFactor");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.executor.memory",
        "spark.executor.memoryOverhead",
        "spark.executor.pyspark.memory",
        "spark.memory.offHeap.size"
      })
  void sizesThatNoExecutorHasAreRefused(String key) {
    for (String size : List.of("65t", "-1g", "8191p", "1.5g")) {
      conf.put(key, size);
      assertThat(ExecutorMemory.refusals(conf)).containsOnlyKeys(key);
      assertThat(ExecutorMemory.refusals(conf).get(key).reason()).contains(key, size);
    }
  }

  /** Resource managers grant whole MiB. */
  @Test
  void theDerivedOverheadIsInWholeMebibytes() {
    conf.put("spark.executor.memory", "5001m");
    assertThat(ExecutorMemory.overhead(conf::get)).isEqualTo(500 * MIB);
  }

  @Test
  void offHeapMemoryHasASwitchAndASize() {
    conf.put("spark.memory.offHeap.size", "1g");
    assertThat(ExecutorMemory.offHeap(conf::get)).isZero();
    conf.put("spark.memory.offHeap.enabled", " True ");
    assertThat(ExecutorMemory.offHeap(conf::get)).isEqualTo(1024 * MIB);
    conf.remove("spark.memory.offHeap.size");
    assertThat(ExecutorMemory.refusals(conf)).containsOnlyKeys("spark.memory.offHeap.enabled");
    conf.put("spark.memory.offHeap.enabled", "on");
    assertThat(ExecutorMemory.refusals(conf)).containsOnlyKeys("spark.memory.offHeap.enabled");
  }

  @Test
  void anOverheadForMoreThanThereIsDoesNotOverflow() {
    assertThat(MemoryBudget.overheadFor(1L << 60, MIB, 1e-300)).isEqualTo(1L << 60);
    assertThat(MemoryBudget.overheadFor(5 * MIB, MIB, 0.5)).isEqualTo(16 * MIB);
  }

  private MemoryBudget derive(double share, OptionalLong containerLimit) {
    return MemoryBudget.derive(ExecutorMemory.grant(conf::get, HEAP), share, containerLimit);
  }
}
