// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import dev.sluice.rdma.verbs.VerbsOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A type of values of settings of executors and node daemons. Times and sizes are in Spark's own
 * syntax. Immutable; any thread.
 *
 * @param allowed text that says which values are allowed
 * @param parser throws IllegalArgumentException for a value that is not allowed
 */
public record Type<T>(String allowed, Function<String, T> parser) {
  /** A switch as Spark has them: upper case is allowed, other words are not. */
  public static final Type<Boolean> FLAG = new Type<>("true or false", Type::flag);

  public static final Type<Double> SHARE =
      checked("a number above 0, up to 1", Double::valueOf, v -> v > 0 && v <= 1);

  public static final Type<Integer> PORT =
      checked(
          "0, or a port from 1024 to 65535",
          Integer::valueOf,
          v -> v == 0 || v >= 1024 && v <= 65535);

  /** Path of a file or a directory. */
  public static final Type<Path> PATH =
      checked("a path", Path::of, path -> !path.toString().isEmpty());

  /**
   * Parses a value.
   *
   * @param key key of the value, for the message
   * @throws IllegalArgumentException for a value that is not allowed; the message names the key,
   *     the value and the allowed values
   */
  public T parse(String key, String value) {
    try {
      return parser.apply(value.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(key + " is \"" + value + "\", but must be " + allowed, e);
    }
  }

  /** Returns the type that allows an empty text as well, for no value. */
  public Type<Optional<T>> optional() {
    return new Type<>(
        allowed, text -> text.isEmpty() ? Optional.empty() : Optional.of(parser.apply(text)));
  }

  /** A size; without a unit it is in bytes. */
  public static Type<Long> bytes(String least, String most) {
    long min = SparkUnits.bytes(least);
    long max = SparkUnits.bytes(most);
    return checked(
        "a size from %s to %s such as 64m".formatted(least, most),
        SparkUnits::bytes,
        v -> v >= min && v <= max);
  }

  /** A time in milliseconds; without a unit it is in milliseconds, too. */
  public static Type<Long> millis(String least, String most) {
    return time(least, most, TimeUnit.MILLISECONDS);
  }

  /** A time; without a unit it is in milliseconds. */
  public static Type<Duration> duration(String least, String most) {
    Type<Long> millis = millis(least, most);
    return new Type<>(millis.allowed, millis.parser.andThen(Duration::ofMillis));
  }

  /** A time in microseconds; without a unit it is in microseconds, too. */
  public static Type<Long> micros(String least, String most) {
    return time(least, most, TimeUnit.MICROSECONDS);
  }

  private static Type<Long> time(String least, String most, TimeUnit unit) {
    long min = SparkUnits.time(least, unit);
    long max = SparkUnits.time(most, unit);
    return checked(
        "a time from %s to %s".formatted(least, most),
        v -> SparkUnits.time(v, unit),
        v -> v >= min && v <= max);
  }

  public static Type<Integer> integer(int least, int most) {
    return checked(
        "a whole number from %d to %d".formatted(least, most),
        Integer::valueOf,
        v -> v >= least && v <= most);
  }

  /** A number, decimal or hexadecimal with 0x, or the word auto. */
  public static Type<Integer> autoOr(int least, int most) {
    return checked(
        "auto, or a whole number from %d to %d".formatted(least, most),
        Type::autoOrNumber,
        v -> v == VerbsOptions.AUTO || v >= least && v <= most);
  }

  public static Type<Integer> autoOrOneOf(Integer... values) {
    List<Integer> allowed = List.of(values);
    return checked(
        "auto, or one of "
            + allowed.stream().map(String::valueOf).collect(Collectors.joining(", ")),
        Type::autoOrNumber,
        v -> v == VerbsOptions.AUTO || allowed.contains(v));
  }

  private static Integer autoOrNumber(String text) {
    if (text.equals("auto")) {
      return VerbsOptions.AUTO;
    }
    int number =
        text.startsWith("0x")
            ? Integer.parseInt(text.substring(2), 16)
            : Integer.parseInt(text); // A leading 0 does not mean octal.
    if (number < 0) { // among them that of AUTO
      throw new NumberFormatException("below 0");
    }
    return number;
  }

  /** A constant of an enum, written in lower case. */
  public static <E extends Enum<E>> Type<E> constantOf(Class<E> kind) {
    Map<String, E> constants =
        Stream.of(kind.getEnumConstants())
            .collect(Collectors.toMap(c -> c.name().toLowerCase(Locale.ROOT), Function.identity()));
    return checked(
        "one of " + String.join(", ", new TreeSet<>(constants.keySet())),
        constants::get,
        Objects::nonNull);
  }

  public static Type<String> oneOf(String... values) {
    return checked(
        "one of " + String.join(", ", values), Function.identity(), List.of(values)::contains);
  }

  private static <T> Type<T> checked(
      String allowed, Function<String, T> parser, Function<T, Boolean> check) {
    return new Type<>(
        allowed,
        text -> {
          T value = parser.apply(text);
          if (!check.apply(value)) {
            throw new IllegalArgumentException("out of range");
          }
          return value;
        });
  }

  private static Boolean flag(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("neither true nor false");
    };
  }
}
