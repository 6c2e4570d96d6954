package dev.sluice.benchmarks;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Bytes of a message on the command line and in names: powers of two, as perftest counts. */
public final class BinarySize implements ITypeConverter<Integer> {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,4})([km]?)(?:i?b)?");

  @Override
  public Integer convert(String text) {
    Matcher matcher = SIZE.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text + "' is not a size such as 16, 64k or 1m");
    }
    int number = Integer.parseInt(matcher.group(1));
    return switch (matcher.group(2)) {
      case "k" -> Math.multiplyExact(number, 1 << 10);
      case "m" -> Math.multiplyExact(number, 1 << 20);
      default -> number;
    };
  }

  /** 16B, 64KiB, 1MiB: the shortest exact form, which {@link #convert} takes as well. */
  public static String format(int bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + "MiB";
    }
    return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + "KiB" : bytes + "B";
  }
}
