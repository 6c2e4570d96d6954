package dev.sluice.spark.conf;

import org.apache.spark.SparkConf;

/**
 * What Spark and its resource manager let an executor have.
 *
 * @param heapBytes of its JVM
 * @param offHeapBytes that Spark itself and Python take beside it
 * @param overheadBytes for all else
 */
public record ExecutorMemory(long heapBytes, long offHeapBytes, long overheadBytes) {
  private static final long MIB = 1L << 20;

  /** With Spark's defaults. */
  public static final ExecutorMemory LEAST = new ExecutorMemory(1024 * MIB, 0, 384 * MIB);

  /** That of this process, as it is configured. */
  static ExecutorMemory of(SparkConf conf) {
    return new ExecutorMemory(Runtime.getRuntime().maxMemory(), offHeap(conf), overhead(conf));
  }

  /** As Spark's resource managers compute it. */
  static long overhead(SparkConf conf) {
    if (conf.contains("spark.executor.memoryOverhead")) {
      return conf.getSizeAsMb("spark.executor.memoryOverhead") * MIB;
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
