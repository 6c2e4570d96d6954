// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.blocks.conf.MemoryBudget.Grant;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Reads the memory of an executor from Spark's configuration. {@link ExecutorConf} and the doctor
 * ask for it, for {@link MemoryBudget}, and {@code SluiceConf} announces the overhead on the
 * driver. Any thread.
 */
public final class ExecutorMemory {
  /** Key of the overhead that a user sets. */
  public static final String OVERHEAD = "spark.executor.memoryOverhead";

  /** Key of the heap. */
  public static final String HEAP = "spark.executor.memory";

  /** Least overhead that Spark derives. */
  public static final String LEAST_OVERHEAD = "384m";

  private static final String FACTOR = "spark.executor.memoryOverheadFactor";
  private static final String LEAST = "spark.executor.minMemoryOverhead";
  private static final String OFF_HEAP = "spark.memory.offHeap.size";
  private static final String PYTHON = "spark.executor.pyspark.memory";
  private static final String IN_FLIGHT = "spark.reducer.maxSizeInFlight";
  private static final String TASK_CPUS = "spark.task.cpus";

  private ExecutorMemory() {}

  /**
   * Returns the memory of an executor as configured.
   *
   * @param values returns the text that is set for a key; null if none is
   * @param heapBytes heap of its JVM
   */
  static Grant grant(UnaryOperator<String> values, long heapBytes) {
    return new Grant(heapBytes, offHeap(values), overhead(values));
  }

  /** Returns refusals of values that are no sizes, or no numbers. */
  static Map<String, Refusal> refusals(Map<String, String> all) {
    Map<String, Refusal> refusals = new HashMap<>();
    for (String key : List.of(HEAP, OVERHEAD, LEAST, OFF_HEAP, PYTHON, IN_FLIGHT)) {
      Refusal.of(() -> size(all::get, key, "0")).ifPresent(refused -> refusals.put(key, refused));
    }
    Refusal.of(() -> factor(all::get)).ifPresent(refused -> refusals.put(FACTOR, refused));
    Refusal.of(() -> tasks(all::get, 1)).ifPresent(refused -> refusals.put(TASK_CPUS, refused));
    return refusals;
  }

  /** Returns the memory of an executor's container, in bytes. */
  public static long container(UnaryOperator<String> values) {
    Grant grant = grant(values, heap(values));
    return grant.heapBytes() + grant.offHeapBytes() + grant.overheadBytes();
  }

  /** Returns the number of tasks that run at a time on the cores of an executor. */
  public static int tasks(UnaryOperator<String> values, int cores) {
    String text = values.apply(TASK_CPUS);
    try {
      int cpus = text == null ? 1 : Integer.parseInt(text);
      if (cpus > 0) {
        return Math.max(1, cores / cpus);
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(TASK_CPUS + " is \"" + text + "\", not a number of cores");
  }

  /** Returns the most bytes that one of Spark's iterators requests at a time. */
  static long inFlight(UnaryOperator<String> values) {
    return size(values, IN_FLIGHT, "48m");
  }

  /** Returns the heap that Spark gives to an executor, in bytes. */
  public static long heap(UnaryOperator<String> values) {
    return size(values, HEAP, "1g");
  }

  /**
   * Returns the memory overhead as Spark's resource managers grant it. An executor of another
   * resource profile has that profile's heap and, where it is set, its overhead in its
   * configuration. A profile without an overhead is granted the default profile's, however large
   * its heap is.
   */
  public static long overhead(UnaryOperator<String> values) {
    if (values.apply(OVERHEAD) != null) {
      return size(values, OVERHEAD, "");
    }
    Long ofDriver = ExecutorSettings.DEFAULT_MEMORY_OVERHEAD.get(values);
    return ofDriver == null ? sparksOverhead(values) : ofDriver;
  }

  /** Returns the memory overhead that Spark derives from the heap if none is set. */
  private static long sparksOverhead(UnaryOperator<String> values) {
    return Math.max((long) (heap(values) * factor(values)), size(values, LEAST, LEAST_OVERHEAD));
  }

  /**
   * @throws IllegalArgumentException for a value that is no number; the message names the key
   */
  private static double factor(UnaryOperator<String> values) {
    String text = values.apply(FACTOR);
    try {
      return text == null ? 0.1 : Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(FACTOR + " is \"" + text + "\", not a number", e);
    }
  }

  static long offHeap(UnaryOperator<String> values) {
    boolean enabled = Boolean.parseBoolean(values.apply("spark.memory.offHeap.enabled"));
    String given = values.apply(OFF_HEAP);
    long offHeap = enabled && given != null ? SparkUnits.bytes(given) : 0;
    return offHeap + size(values, PYTHON, "0");
  }

  /**
   * @throws IllegalArgumentException for a value that is no size; the message names the key
   */
  private static long size(UnaryOperator<String> values, String key, String otherwise) {
    String text = values.apply(key);
    try {
      return SparkUnits.wholeMebibytes(text == null ? otherwise : text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(key + " is \"" + text + "\": " + e.getMessage(), e);
    }
  }
}
