// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Prints findings. A finding of several executors is one row. The main thread of a doctor makes it,
 * fills it and prints it; it has no lock.
 */
public final class Table {
  /** Limit of the names in a row, which fit a line or two. JSON has all of them. */
  private static final int MOST_NAMED = 8;

  /** Executors that made a finding; none if there is one process only. */
  private final Map<Finding, List<Where>> rows = new LinkedHashMap<>();

  /** Facts about the whole answer, for programs. */
  private final Map<String, Object> head = new LinkedHashMap<>();

  public Table() {
    head.put("sluice", Platform.version().orElse("unknown"));
    head.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    head.put("host", hostName());
    head.put("java", Runtime.version().toString());
  }

  /** Returns the kernel's host name: a question to a name server could take long. */
  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Adds a fact about the whole answer. */
  public void put(String field, Object value) {
    head.put(field, value);
  }

  public void add(Finding finding) {
    rows.computeIfAbsent(finding, row -> new ArrayList<>());
  }

  /** Adds a finding about hosts, to the row that explains it on all of them, or else as a row. */
  public void addAbout(List<String> hosts, Finding finding) {
    Optional<Finding> cause =
        rows.keySet().stream()
            .filter(row -> finding.follows(row) && hosts(row).containsAll(hosts))
            .findFirst();
    if (cause.isEmpty()) {
      add(finding);
      return;
    }
    Map<Finding, List<Where>> before = new LinkedHashMap<>(rows);
    rows.clear();
    before.forEach(
        (row, where) -> rows.put(row.equals(cause.get()) ? row.followedBy(finding) : row, where));
  }

  private Set<String> hosts(Finding row) {
    return requireNonNull(rows.get(row)).stream().map(Where::host).collect(Collectors.toSet());
  }

  public void add(Finding finding, Where where) {
    rows.computeIfAbsent(finding, row -> new ArrayList<>()).add(where);
  }

  public int exitStatus() {
    return Finding.exitStatus(rows.keySet());
  }

  /** Returns the rows with remedies below them, ordered by the first row of each name. */
  public String text() {
    StringBuilder out = new StringBuilder();
    for (Map.Entry<Finding, List<Where>> row : sorted()) {
      Finding finding = row.getKey();
      out.append(String.format("%-4s  %-13s %s%n", level(finding), finding.name(), finding.said()));
      line(out, "on", where(row.getValue()));
      line(out, "effect:", String.join("; ", finding.consequences()));
      line(out, "fix:", finding.set());
    }
    return out.toString();
  }

  private List<Map.Entry<Finding, List<Where>>> sorted() {
    return rows.entrySet().stream()
        .collect(
            Collectors.groupingBy(
                row -> row.getKey().name(), LinkedHashMap::new, Collectors.toList()))
        .values()
        .stream()
        .flatMap(List::stream)
        .collect(Collectors.toList());
  }

  /** Returns lines of files that mend the findings; for findings without any, the remedies. */
  public String fix() {
    FixText text = new FixText();
    for (Map.Entry<Finding, List<Where>> row : sorted()) {
      if (row.getKey().level() != Finding.Level.OK) {
        text.add(row.getKey(), where(row.getValue()));
      }
    }
    return text.toString();
  }

  private static String where(List<Where> executors) {
    return names(executors.stream().map(Where::toString).collect(Collectors.toList()));
  }

  private static void line(StringBuilder out, String label, String text) {
    if (!text.isEmpty()) {
      out.append(String.format("%-20s%s %s%n", "", label, text));
    }
  }

  /** Returns the first names, and the number of the others. */
  public static String names(List<String> names) {
    String first = names.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
    return names.size() <= MOST_NAMED
        ? first
        : first + " and " + (names.size() - MOST_NAMED) + " more";
  }

  /** Returns one JSON object: facts, and an array of findings with all executors that made each. */
  public String json() {
    head.put("exit_status", exitStatus());
    String facts = Json.of(head);
    return sorted().stream()
        .map(row -> "  " + Json.of(fields(row.getKey(), row.getValue())))
        .collect(
            Collectors.joining(
                ",\n", facts.substring(0, facts.length() - 1) + ", \"findings\": [\n", "\n]}\n"));
  }

  private static Map<String, Object> fields(Finding finding, List<Where> where) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", finding.name());
    fields.put("level", level(finding));
    fields.put("values", finding.values());
    fields.put("message", finding.said());
    fields.put("consequences", finding.consequences());
    fields.put("remedy", finding.set());
    fields.put(
        "where",
        where.stream()
            .map(one -> Map.of("executor", one.executor(), "host", one.host()))
            .collect(Collectors.toList()));
    fields.put(
        "lines",
        finding.lines().stream()
            .map(line -> Map.of("file", line.file(), "line", line.text()))
            .collect(Collectors.toList()));
    return fields;
  }

  private static String level(Finding finding) {
    return finding.level().name().toLowerCase(Locale.ROOT);
  }
}
