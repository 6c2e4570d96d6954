package dev.sluice.blocks.conf;

import java.util.function.Function;

/**
 * A type of values in a configuration.
 *
 * @param allowed says in words what is allowed
 * @param parser throws IllegalArgumentException for what is not
 */
public record Type<T>(String allowed, Function<String, T> parser) {
  /**
   * @param key what has the value
   * @throws IllegalArgumentException for what is not allowed; names key, value, and what is
   */
  public T parse(String key, String value) {
    try {
      return parser.apply(value.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(key + " is \"" + value + "\", allowed is " + allowed, e);
    }
  }
}
