package dev.sluice.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Findings as they are printed. What several executors found alike is one row, with who found it.
 * One thread.
 */
public final class Table {
  private static final int MOST_NAMED = 8;

  /** Of each finding, who found it; nobody's name where there is one process only. */
  private final Map<Finding, List<String>> rows = new LinkedHashMap<>();

  public void add(Finding finding) {
    rows.computeIfAbsent(finding, _row -> new ArrayList<>());
  }

  /**
   * @param where who found it, in words
   */
  public void add(Finding finding, String where) {
    rows.computeIfAbsent(finding, _row -> new ArrayList<>()).add(where);
  }

  public int exitStatus() {
    return Finding.exitStatus(rows.keySet());
  }

  /** The rows by name, as names came, with what to set below each. */
  public String text() {
    StringBuilder out = new StringBuilder();
    for (Map.Entry<Finding, List<String>> row : sorted()) {
      Finding finding = row.getKey();
      out.append(String.format("%-4s  %-13s %s%n", level(finding), finding.name(), finding.said()));
      line(out, "on", names(row.getValue()));
      line(out, "set:", finding.set());
    }
    return out.toString();
  }

  private List<Map.Entry<Finding, List<String>>> sorted() {
    return rows.entrySet().stream()
        .collect(
            Collectors.groupingBy(
                row -> row.getKey().name(), LinkedHashMap::new, Collectors.toList()))
        .values()
        .stream()
        .flatMap(List::stream)
        .collect(Collectors.toList());
  }

  private static void line(StringBuilder out, String label, String text) {
    if (!text.isEmpty()) {
      out.append(String.format("%-20s%s %s%n", "", label, text));
    }
  }

  /** The first ones, and how many more there are. */
  public static String names(List<String> names) {
    String first = names.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
    return names.size() <= MOST_NAMED
        ? first
        : first + " and " + (names.size() - MOST_NAMED) + " more";
  }

  /** One array of objects, with all who found each. */
  public String json() {
    return sorted().stream().map(Table::json).collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private static String json(Map.Entry<Finding, List<String>> row) {
    Finding finding = row.getKey();
    return String.format(
        "  {\"name\": %s, \"level\": %s, \"said\": %s, \"set\": %s, \"where\": [%s]}",
        quoted(finding.name()),
        quoted(level(finding)),
        quoted(finding.said()),
        quoted(finding.set()),
        row.getValue().stream().map(Table::quoted).collect(Collectors.joining(", ")));
  }

  private static String level(Finding finding) {
    return finding.level().name().toLowerCase(Locale.ROOT);
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
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
