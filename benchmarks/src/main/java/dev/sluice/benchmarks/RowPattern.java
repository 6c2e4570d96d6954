package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Chooses rows by name: words with {@code *} for anything, one of which a name must be. */
final class RowPattern {
  private final Pattern names;

  RowPattern(String words) {
    names =
        Pattern.compile(
            Arrays.stream(words.split(" "))
                .map(word -> "\\Q" + word.replace("*", "\\E.*\\Q") + "\\E")
                .collect(Collectors.joining("|")));
  }

  List<Comparison> of(List<Comparison> rows) {
    return rows.stream().filter(row -> names.matcher(row.name()).matches()).toList();
  }
}
