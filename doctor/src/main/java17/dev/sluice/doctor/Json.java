// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes maps, collections, numbers, booleans and strings as JSON text. {@link Table} and {@code
 * SizeCommand} call it. No value may be null; a number that is not finite becomes a string.
 */
public final class Json {
  private Json() {}

  public static String of(Object value) {
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> quoted(entry.getKey().toString()) + ": " + of(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof Collection<?> collection) {
      return collection.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
    }
    boolean isNumber = value instanceof Number number && Double.isFinite(number.doubleValue());
    return isNumber || value instanceof Boolean ? value.toString() : quoted(value.toString());
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
