// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Sizes on the command line; decimal as in TeraSort, where 1g is ten million records. Picocli
 * creates it for an option. Names of rows contain {@link #binary} and {@link #format}.
 */
public final class Sizes implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,9})([kmgt]?)b?");
  private static final String UNITS = "kmgt";

  @Override
  public Long convert(String text) {
    Matcher matcher = SIZE.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches() || matcher.group(1).matches("0+")) {
      throw new TypeConversionException("'" + text + "' is not a size such as 64m or 1g");
    }
    long size = Long.parseLong(matcher.group(1));
    String unit = matcher.group(2);
    for (int i = 0; !unit.isEmpty() && i <= UNITS.indexOf(unit); i++) {
      size = Math.multiplyExact(size, 1000L);
    }
    return size;
  }

  /** Returns the size as in names of rows: 16B, 64KiB, 1MiB. */
  public static String binary(long bytes) {
    if (bytes % (1 << 20) == 0) {
      return (bytes >> 20) + "MiB";
    }
    return bytes % (1 << 10) == 0 ? (bytes >> 10) + "KiB" : bytes + "B";
  }

  /** Returns the shortest exact form: 64m, 1500m, 1g. */
  public static String format(long bytes) {
    long size = bytes;
    int unit = -1;
    while (size != 0 && size % 1000 == 0 && unit < UNITS.length() - 1) {
      size /= 1000;
      unit++;
    }
    return unit < 0 ? Long.toString(size) : size + UNITS.substring(unit, unit + 1);
  }
}
