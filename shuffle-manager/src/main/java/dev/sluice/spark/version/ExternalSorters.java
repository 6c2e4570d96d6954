// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.version;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import org.apache.spark.Aggregator;
import org.apache.spark.TaskContext;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.math.Ordering;

/**
 * Makes Spark's sorters, which since 4.1 take an array of row checksums (SPARK-51756). {@code
 * RdmaShuffleReader} calls it on tasks' threads. {@code SluiceShuffle}'s constructor only loads it,
 * by {@link #requireKnown}, so that an unknown Spark fails there. Static and stateless.
 */
public final class ExternalSorters {
  private static final MethodType SINCE_4_0 =
      MethodType.methodType(
          void.class,
          TaskContext.class,
          Option.class,
          Option.class,
          Option.class,
          Serializer.class);
  private static final String ROW_CHECKSUM = "org.apache.spark.shuffle.checksum.RowBasedChecksum";

  /** Found once; a constant to the compiler, and so a plain call. */
  private static final MethodHandle CONSTRUCTOR = find();

  private ExternalSorters() {}

  /**
   * Fails when the application starts, where a sort would otherwise fail later.
   *
   * @throws LinkageError if this Spark makes its sorters in another way
   */
  public static void requireKnown() {}

  private static MethodHandle find() {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    try {
      return lookup.findConstructor(ExternalSorter.class, SINCE_4_0);
    } catch (ReflectiveOperationException e) {
      return findSince41(lookup);
    }
  }

  /** Finds the constructor of 4.1. It gets no checksums, which only map tasks compute. */
  private static MethodHandle findSince41(MethodHandles.Lookup lookup) {
    try {
      Object none =
          Array.newInstance(
              Class.forName(ROW_CHECKSUM, false, ExternalSorter.class.getClassLoader()), 0);
      MethodHandle constructor =
          lookup.findConstructor(
              ExternalSorter.class, SINCE_4_0.appendParameterTypes(none.getClass()));
      return MethodHandles.insertArguments(constructor, SINCE_4_0.parameterCount(), none);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("Spark's ExternalSorter has no constructor that Sluice knows", e);
    }
  }

  /**
   * Makes a sorter that does not partition, for a reduce task.
   *
   * @param aggregator combines the values of a key, if defined
   * @param ordering order of the keys, if they have to be sorted
   */
  @SuppressWarnings("unchecked") // The handle knows no type parameters.
  public static <K, V, C> ExternalSorter<K, V, C> create(
      TaskContext context,
      Option<Aggregator<K, V, C>> aggregator,
      Option<Ordering<K>> ordering,
      Serializer serializer) {
    try {
      return (ExternalSorter<K, V, C>)
          (ExternalSorter<?, ?, ?>)
              CONSTRUCTOR.invoke(
                  context,
                  (Option<?>) aggregator,
                  Option.empty(),
                  (Option<?>) ordering,
                  serializer);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("Cannot create Spark's ExternalSorter", e);
    }
  }
}
