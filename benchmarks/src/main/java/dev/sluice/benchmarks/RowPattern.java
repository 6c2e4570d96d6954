// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Chooses rows by name: a list of words, one of which must match; {@code *} matches any text.
 * Goals, parts of {@code bench all} and tables of documents have one. Immutable.
 */
public final class RowPattern {
  private final Pattern names;

  public RowPattern(String words) {
    names =
        Pattern.compile(
            Arrays.stream(words.split(" "))
                .map(word -> "\\Q" + word.replace("*", "\\E.*\\Q") + "\\E")
                .collect(Collectors.joining("|")));
  }

  public boolean isOne(String name) {
    return names.matcher(name).matches();
  }

  public List<Comparison> of(List<Comparison> rows) {
    return rows.stream().filter(row -> isOne(row.name())).toList();
  }
}
