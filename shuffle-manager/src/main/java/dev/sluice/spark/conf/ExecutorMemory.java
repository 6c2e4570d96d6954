// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.MemoryBudget;
import org.apache.spark.SparkConf;

/**
 * Reads the memory of an executor from Spark's configuration. {@link SluiceConf} asks for it, for
 * {@link MemoryBudget}, on any thread. On the driver, {@code SluiceShuffle}'s constructor calls
 * {@link #announce}.
 */
public final class ExecutorMemory {
  private static final long MIB = 1L << 20;

  private ExecutorMemory() {}

  /** Returns the memory of this process as configured. */
  static MemoryBudget.Grant of(SparkConf conf) {
    return new MemoryBudget.Grant(Runtime.getRuntime().maxMemory(), offHeap(conf), overhead(conf));
  }

  /**
   * Sets the memory overhead of the default resource profile in the configuration that executors
   * get from the driver. Called on the driver before executors start.
   */
  public static void announce(SparkConf conf) {
    String key = Settings.DEFAULT_MEMORY_OVERHEAD.key();
    conf.remove(key); // a copied configuration may have it
    conf.set(key, overhead(conf) / MIB + "m");
  }

  /**
   * Returns the memory overhead as Spark's resource managers grant it. An executor of another
   * resource profile has that profile's heap and, where it is set, its overhead in its
   * configuration. A profile without an overhead is granted the default profile's, however large
   * its heap is.
   */
  static long overhead(SparkConf conf) {
    if (conf.contains("spark.executor.memoryOverhead")) {
      return conf.getSizeAsMb("spark.executor.memoryOverhead") * MIB;
    }
    if (conf.contains(Settings.DEFAULT_MEMORY_OVERHEAD.key())) {
      return requireNonNull(Settings.get(conf, Settings.DEFAULT_MEMORY_OVERHEAD));
    }
    long memory = conf.getSizeAsMb("spark.executor.memory", "1g") * MIB;
    double factor = conf.getDouble("spark.executor.memoryOverheadFactor", 0.1);
    long least = conf.getSizeAsMb("spark.executor.minMemoryOverhead", "384m") * MIB;
    return Math.max((long) (memory * factor), least);
  }

  static long offHeap(SparkConf conf) {
    boolean enabled = conf.getBoolean("spark.memory.offHeap.enabled", false);
    long offHeap = enabled ? conf.getSizeAsBytes("spark.memory.offHeap.size", "0") : 0;
    return offHeap + conf.getSizeAsMb("spark.executor.pyspark.memory", "0") * MIB;
  }
}
