// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Text of {@code --fix}: for each file its lines, below their reasons as comments. Findings that no
 * line mends follow as comments. {@link Table} makes it on the doctor's main thread, adds the
 * findings and prints it.
 */
final class FixText {
  static final String NOTHING = "nothing to fix\n";

  private final Map<FixLine, Set<String>> reasons =
      new TreeMap<>(
          Comparator.comparing(FixLine::place)
              .thenComparing(FixLine::name)
              .thenComparing(FixLine::text));

  private final List<String> rest = new ArrayList<>();

  /**
   * Adds a finding that is not ok.
   *
   * @param where executors that have it, in words; empty if there is one process only
   */
  void add(Finding finding, String where) {
    String on = where.isEmpty() ? "" : " (on " + where + ")";
    String reason = finding.said().replace('\n', ' ') + on;
    for (FixLine line : finding.lines()) {
      reasons.computeIfAbsent(line, none -> new LinkedHashSet<>()).add(reason);
    }
    if (finding.lines().isEmpty()) {
      String level = finding.level().name().toLowerCase(Locale.ROOT);
      rest.add("# " + level + ": " + finding.name() + ": " + reason);
      rest.add("#   fix: " + finding.set());
    }
  }

  @Override
  public String toString() {
    List<String> text = new ArrayList<>();
    List<String> above = List.of();
    Set<String> given = Set.of();
    for (Map.Entry<FixLine, Set<String>> entry : reasons.entrySet()) {
      FixLine line = entry.getKey();
      List<String> head = line.head();
      int known = commonStart(above, head);
      if (known == 0 && !text.isEmpty()) {
        text.add("");
      }
      text.addAll(head.subList(known, head.size()));
      if (!above.equals(head) || !given.equals(entry.getValue())) {
        entry.getValue().forEach(reason -> text.add(line.indent() + "# " + reason));
      }
      above = head;
      given = entry.getValue();
      text.add(line.indent() + line.text());
    }
    if (!rest.isEmpty()) {
      if (!text.isEmpty()) {
        text.add("");
      }
      text.add("# No line mends these:");
      text.addAll(rest);
    }
    return text.isEmpty() ? NOTHING : String.join("\n", text) + "\n";
  }

  /** Returns the number of lines at the start that are equal. */
  private static int commonStart(List<String> one, List<String> other) {
    int equal = 0;
    while (equal < Math.min(one.size(), other.size()) && one.get(equal).equals(other.get(equal))) {
      equal++;
    }
    return equal;
  }
}
