// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Table of all settings with one prefix: an executor's or a node daemon's. Its owner adds the rows
 * while its class is loaded, in the order of the documents. After that nothing changes, and any
 * thread reads it. Values are checked against it, and documents are generated from it.
 */
public final class SettingTable {
  private final String prefix;
  private final String unknown;
  private final List<Setting<?>> rows = new ArrayList<>();

  /**
   * Makes an empty table.
   *
   * @param prefix prefix of all keys
   * @param unknown format of the message about a key that is not in the table, of four strings: the
   *     key, its value, a question with the nearest key or nothing, and all keys
   */
  public SettingTable(String prefix, String unknown) {
    this.prefix = prefix;
    this.unknown = unknown;
  }

  /** A row whose documentation is still to come, and which is not in the table yet. */
  @FunctionalInterface
  public interface Draft<T> {
    /** Adds the row to the table. */
    Setting<T> doc(String text);
  }

  /**
   * Begins a row with a default.
   *
   * @param name the key without the prefix
   */
  public <T> Draft<T> with(String name, Type<T> type, String defaultValue) {
    return doc -> add(name, type, defaultValue, "`" + defaultValue + "`", doc);
  }

  /**
   * Begins a row whose default the code derives, or that has none.
   *
   * @param defaultText the default as documents state it
   */
  public <T> Draft<T> derived(String name, Type<T> type, String defaultText) {
    return doc -> add(name, type, null, defaultText, doc);
  }

  private <T> Setting<T> add(
      String name, Type<T> type, @Nullable String value, String text, String doc) {
    Setting<T> row = new Setting<>(prefix + name, type, value, text, doc);
    rows.add(row);
    return row;
  }

  /** Returns a table with the rows that this one has now, for more of them. */
  public SettingTable copy() {
    SettingTable copy = new SettingTable(prefix, unknown);
    copy.rows.addAll(rows);
    return copy;
  }

  /** Returns the rows that the table has now. */
  public List<Setting<?>> rows() {
    return List.copyOf(rows);
  }

  /**
   * Checks values by their keys.
   *
   * @throws IllegalArgumentException for a key that is not in the table, and for a value that is
   *     not allowed
   */
  public void validate(Map<String, String> values) {
    Set<String> keys = new TreeSet<>();
    for (Setting<?> row : rows) {
      keys.add(row.key());
    }
    for (Map.Entry<String, String> value : values.entrySet()) {
      if (!keys.contains(value.getKey())) {
        String nearest = Suggestion.of(value.getKey(), prefix, keys);
        throw new IllegalArgumentException(
            unknown.formatted(value.getKey(), value.getValue(), nearest, String.join(", ", keys)));
      }
    }
    for (Setting<?> row : rows) {
      row.get(values::get);
    }
  }

  /**
   * Reason why a setting is refused.
   *
   * @param reason reason in words, which names the key
   * @param nearest the key that the user probably meant; empty if none is near, or the key is right
   */
  public record Refusal(String reason, String nearest) {
    /** Returns the refusal of a value by its parser; empty if the value is allowed. */
    public static Optional<Refusal> of(Runnable parse) {
      try {
        parse.run();
        return Optional.empty();
      } catch (IllegalArgumentException e) {
        return Optional.of(new Refusal(String.valueOf(e.getMessage()), ""));
      }
    }
  }

  /**
   * Returns refusals by their keys, in order, for a caller that reports all of them. {@link
   * #validate} accepts settings without any.
   */
  public SortedMap<String, Refusal> refusals(Map<String, String> values) {
    Map<String, Setting<?>> known =
        rows.stream().collect(Collectors.toMap(Setting::key, Function.identity()));
    SortedMap<String, Refusal> refusals = new TreeMap<>();
    values.forEach(
        (key, value) -> {
          Setting<?> row = known.get(key);
          if (row == null) {
            refusals.put(
                key,
                new Refusal(
                    "there is no key " + key + Suggestion.of(key, prefix, known.keySet()),
                    Suggestion.nearest(key, prefix, known.keySet()).orElse("")));
          } else {
            Refusal.of(() -> row.type().parse(key, value))
                .ifPresent(refused -> refusals.put(key, refused));
          }
        });
    return refusals;
  }

  /**
   * Writes rows for a document.
   *
   * @param row format of five strings: key, default as a user would write it, default as documents
   *     state it, allowed values, and documentation
   */
  public static String write(List<Setting<?>> rows, String row) {
    return rows.stream()
        .map(
            r ->
                row.formatted(
                    r.key(), r.defaultValue(), r.defaultText(), r.type().allowed(), r.doc()))
        .collect(Collectors.joining());
  }
}
