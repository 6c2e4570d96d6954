// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses sizes and times in the syntax of Spark's {@code JavaUtils}, and Spark's switches, without
 * Spark: the doctor has none. {@link Type} and {@link ExecutorMemory} parse settings with it, and
 * the doctor its options. A test compares it with Spark's parser. Any thread.
 */
public final class SparkUnits {
  /** Binary prefixes, each 1,024 times the one before. */
  private static final String PREFIXES = "kmgtp";

  private static final Pattern SIZE = Pattern.compile("([0-9]+)([a-z]*)");
  private static final Pattern SIZE_UNIT = Pattern.compile("([kmgtp])(?:b|i|ib)?");
  private static final Pattern TIME = Pattern.compile("(-?[0-9]+)([a-z]*)");
  private static final long MIB = 1L << 20;

  private static final Map<String, TimeUnit> TIME_UNITS =
      Map.of(
          "us", TimeUnit.MICROSECONDS,
          "ms", TimeUnit.MILLISECONDS,
          "s", TimeUnit.SECONDS,
          "m", TimeUnit.MINUTES,
          "min", TimeUnit.MINUTES,
          "h", TimeUnit.HOURS,
          "d", TimeUnit.DAYS);

  private SparkUnits() {}

  /**
   * Returns the value of a switch; false if it is not set.
   *
   * @param values returns the text that is set for a key; null if none is
   * @throws IllegalArgumentException if it is neither true nor false; the message names the key
   */
  public static boolean isTrue(UnaryOperator<String> values, String key) {
    String text = values.apply(key);
    return text != null && Type.FLAG.parse(key, text);
  }

  /**
   * Parses a size such as 64m; without a unit it is in bytes.
   *
   * @throws NumberFormatException if it is not one
   */
  public static long bytes(String text) {
    return bytes(text, 1);
  }

  /**
   * Parses a size as Spark's keys of memory have it, in bytes; without a unit it is in MiB. Bytes
   * below a MiB are dropped.
   *
   * @throws NumberFormatException if it is not one
   */
  public static long wholeMebibytes(String text) {
    return bytes(text, MIB) / MIB * MIB;
  }

  private static long bytes(String text, long defaultUnit) {
    Matcher size = SIZE.matcher(text.toLowerCase(Locale.ROOT).strip());
    if (!size.matches()) {
      throw new NumberFormatException("not a whole number with a unit such as m, g or t: " + text);
    }
    long unit = size.group(2).isEmpty() ? defaultUnit : sizeUnit(size.group(2));
    long count = Long.parseLong(size.group(1));
    if (count > Long.MAX_VALUE / unit) {
      throw new NumberFormatException("too large: " + text);
    }
    return count * unit;
  }

  private static long sizeUnit(String name) {
    if (name.equals("b")) {
      return 1;
    }
    Matcher unit = SIZE_UNIT.matcher(name);
    if (!unit.matches()) {
      throw new NumberFormatException("no unit of sizes: " + name);
    }
    return 1L << (10 * (1 + PREFIXES.indexOf(unit.group(1))));
  }

  /**
   * Parses a time such as 5min; without a unit it is in that of the result.
   *
   * @throws NumberFormatException if it is not one
   */
  static long time(String text, TimeUnit result) {
    Matcher time = TIME.matcher(text.toLowerCase(Locale.ROOT).strip());
    if (!time.matches()) {
      throw new NumberFormatException("not a whole number with a unit such as ms or s: " + text);
    }
    TimeUnit unit = time.group(2).isEmpty() ? result : TIME_UNITS.get(time.group(2));
    if (unit == null) {
      throw new NumberFormatException("no unit of times: " + time.group(2));
    }
    return result.convert(Long.parseLong(time.group(1)), unit);
  }
}
