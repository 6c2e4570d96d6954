// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Values of the counters that an enum names. Any thread adds and reads. Counting costs as much as
 * {@link LongAdder#add}, since READs and registrations count.
 */
public final class Counters<E extends Enum<E>> {
  private final E[] counters;
  private final LongAdder[] values;

  public Counters(Class<E> type) {
    counters = type.getEnumConstants();
    values = new LongAdder[counters.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = new LongAdder();
    }
  }

  /** Returns a counter's name in metrics, such as {@code transfer.read-bytes}. */
  public static String metric(String part, Enum<?> counter) {
    return part + "." + counter.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public void add(E counter, long value) {
    values[counter.ordinal()].add(value);
  }

  public void increment(E counter) {
    add(counter, 1);
  }

  /** A level that other threads raise and lower meanwhile may be off, but is not below zero. */
  public long get(E counter) {
    return Math.max(0, values[counter.ordinal()].sum());
  }

  /** Returns all counters by their names in metrics. */
  public Map<String, LongSupplier> byName(Function<E, String> name) {
    Map<String, LongSupplier> all = new TreeMap<>();
    for (E counter : counters) {
      all.put(name.apply(counter), () -> get(counter));
    }
    return all;
  }
}
