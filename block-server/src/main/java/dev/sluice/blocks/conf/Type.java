// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.function.Function;

/**
 * A type of values in a configuration: of an executor's settings and of a node daemon's ({@link
 * Types}). Immutable; any thread.
 *
 * @param allowed text that says which values are allowed
 * @param parser throws IllegalArgumentException for a value that is not allowed
 */
public record Type<T>(String allowed, Function<String, T> parser) {
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
}
