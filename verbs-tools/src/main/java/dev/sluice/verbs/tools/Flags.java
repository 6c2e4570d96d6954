// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Bits of an attribute with their names, printed as ibv_devinfo does, in the order in which they
 * were added. {@link DeviceInfo} fills them in constants; immutable from then on.
 */
final class Flags {
  private static final String INDENT = "\t\t\t\t\t";

  private final Map<Long, String> names = new LinkedHashMap<>();

  /** Returns bits with the names of a class's public constants. */
  static Flags of(Class<?> constants) {
    Flags flags = new Flags();
    Arrays.stream(constants.getFields())
        .map(Flags::bit)
        .sorted(Map.Entry.comparingByKey())
        .forEach(bit -> flags.with(bit.getKey(), bit.getValue()));
    return flags;
  }

  private static Map.Entry<Long, String> bit(Field constant) {
    try {
      return Map.entry(constant.getLong(null), constant.getName());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  Flags with(long bit, String name) {
    names.put(bit, name);
    return this;
  }

  /** Prints a line for each known bit that is set. */
  void print(PrintWriter out, long value) {
    names.forEach(
        (bit, name) -> {
          if ((value & bit) != 0) {
            out.println(INDENT + name);
          }
        });
  }

  /** Prints the known bits, as {@link #print}, and a line for all unknown bits. */
  void printAll(PrintWriter out, long value) {
    print(out, value);
    long unknown = value;
    for (long bit : names.keySet()) {
      unknown &= ~bit;
    }
    if (unknown != 0) {
      out.printf(INDENT + "Unknown flags: 0x%X%n", unknown);
    }
  }
}
