// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.blocks.conf.MemoryBudget.Grant;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
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

  /** More than any executor has. Sums of such sizes do not overflow. */
  public static final String MOST = "64t";

  /** Key of the number of cores that a task takes. */
  public static final String TASK_CPUS = "spark.task.cpus";

  private static final String FACTOR = "spark.executor.memoryOverheadFactor";
  private static final String LEAST = "spark.executor.minMemoryOverhead";
  private static final String OFF_HEAP = "spark.memory.offHeap.size";
  private static final String OFF_HEAP_ENABLED = "spark.memory.offHeap.enabled";
  private static final String PYTHON = "spark.executor.pyspark.memory";
  private static final String IN_FLIGHT = "spark.reducer.maxSizeInFlight";
  private static final double MOST_FACTOR = 100;
  private static final long MIB = 1L << 20;

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

  /** Returns refusals of values that are no sizes, no numbers and no switches. */
  static Map<String, Refusal> refusals(Map<String, String> all) {
    Map<String, Refusal> refusals = new HashMap<>();
    for (String key : List.of(HEAP, OVERHEAD, LEAST, PYTHON, IN_FLIGHT)) {
      Refusal.of(() -> size(all::get, key, "0")).ifPresent(refused -> refusals.put(key, refused));
    }
    Refusal.of(() -> factor(all::get)).ifPresent(refused -> refusals.put(FACTOR, refused));
    Refusal.of(() -> tasks(all::get, 1)).ifPresent(refused -> refusals.put(TASK_CPUS, refused));
    Refusal.of(() -> offHeapSize(all::get))
        .ifPresentOrElse(
            refused -> refusals.put(OFF_HEAP, refused),
            () ->
                Refusal.of(() -> requireOffHeapSize(all::get))
                    .ifPresent(refused -> refusals.put(OFF_HEAP_ENABLED, refused)));
    return refusals;
  }

  /** Returns the memory of an executor's container, in bytes. */
  public static long container(UnaryOperator<String> values) {
    Grant grant = grant(values, heap(values));
    return grant.heapBytes() + grant.offHeapBytes() + grant.overheadBytes();
  }

  /** Returns the number of tasks that run at a time on the cores of an executor. */
  public static int tasks(UnaryOperator<String> values, int cores) {
    return Math.max(1, cores / taskCpus(values));
  }

  /** Returns the number of cores that a task takes. */
  public static int taskCpus(UnaryOperator<String> values) {
    String text = values.apply(TASK_CPUS);
    try {
      int cpus = text == null ? 1 : Integer.parseInt(text);
      if (cpus > 0) {
        return cpus;
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

  /** Returns the memory overhead that Spark derives from the heap if none is set, in whole MiB. */
  private static long sparksOverhead(UnaryOperator<String> values) {
    long derived = (long) (heap(values) * factor(values)) / MIB * MIB;
    return Math.max(derived, size(values, LEAST, LEAST_OVERHEAD));
  }

  /**
   * @throws IllegalArgumentException for a value that is no number above 0; the message names the
   *     key
   */
  private static double factor(UnaryOperator<String> values) {
    String text = values.apply(FACTOR);
    try {
      double factor = text == null ? 0.1 : Double.parseDouble(text);
      if (factor > 0 && factor <= MOST_FACTOR) {
        return factor;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        "%s is \"%s\", not a number above 0, up to %.0f".formatted(FACTOR, text, MOST_FACTOR));
  }

  static long offHeap(UnaryOperator<String> values) {
    long offHeap = SparkUnits.isTrue(values, OFF_HEAP_ENABLED) ? offHeapSize(values) : 0;
    return offHeap + size(values, PYTHON, "0");
  }

  /** Without a unit it is in bytes, as Spark has it. Resource managers grant whole MiB. */
  private static long offHeapSize(UnaryOperator<String> values) {
    return size(SparkUnits::bytes, values, OFF_HEAP, "0") / MIB * MIB;
  }

  /**
   * @throws IllegalArgumentException for off-heap memory without a size, with which no executor
   *     starts
   */
  private static void requireOffHeapSize(UnaryOperator<String> values) {
    if (SparkUnits.isTrue(values, OFF_HEAP_ENABLED) && offHeapSize(values) == 0) {
      throw new IllegalArgumentException(
          OFF_HEAP_ENABLED + " is true, but " + OFF_HEAP + " is less than 1m");
    }
  }

  private static long size(UnaryOperator<String> values, String key, String otherwise) {
    return size(SparkUnits::wholeMebibytes, values, key, otherwise);
  }

  /**
   * @throws IllegalArgumentException for a value that is no size, or more than {@link #MOST}; the
   *     message names the key
   */
  private static long size(
      ToLongFunction<String> parser, UnaryOperator<String> values, String key, String otherwise) {
    String text = values.apply(key);
    try {
      long bytes = parser.applyAsLong(text == null ? otherwise : text);
      if (bytes > SparkUnits.bytes(MOST)) {
        throw new NumberFormatException("more than " + MOST);
      }
      return bytes;
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(key + " is \"" + text + "\": " + e.getMessage(), e);
    }
  }
}
