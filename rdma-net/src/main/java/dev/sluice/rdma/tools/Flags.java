package dev.sluice.rdma.tools;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** Bits of an attribute with their names, printed as ibv_devinfo does. Immutable once filled. */
final class Flags {
  private static final String INDENT = "\t\t\t\t\t";

  private final Map<Long, String> names = new LinkedHashMap<>();

  Flags with(long bit, String name) {
    names.put(bit, name);
    return this;
  }

  /** A line for each known bit that is set. */
  void print(PrintWriter out, long value) {
    names.forEach(
        (bit, name) -> {
          if ((value & bit) != 0) {
            out.println(INDENT + name);
          }
        });
  }

  /** As {@link #print}, and a line for all that is not known. */
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
