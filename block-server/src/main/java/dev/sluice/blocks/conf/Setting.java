// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One configuration key: its type, default and documentation. The instances are the rows of a
 * {@link SettingTable}; any thread reads them.
 *
 * @param key the whole key
 * @param type the allowed values
 * @param defaultValue the default as a user would write it; null if it is derived or there is none
 * @param defaultText the default as documents state it
 * @param doc one or more sentences for documents
 */
public record Setting<T>(
    String key, Type<T> type, @Nullable String defaultValue, String defaultText, String doc) {

  /**
   * Returns the value that is set, else {@code defaultValue}; null if both are null. A default is
   * parsed like a value that a user sets.
   *
   * @param values returns the text that is set for a key; null if none is
   * @throws IllegalArgumentException for a value that is not allowed
   */
  public @Nullable T get(UnaryOperator<String> values) {
    String value = values.apply(key);
    String text = value == null ? defaultValue : value;
    return text == null ? null : type.parse(key, text);
  }
}
