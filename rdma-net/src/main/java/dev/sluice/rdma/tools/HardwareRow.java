package dev.sluice.rdma.tools;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A machine's row of the table in docs/hardware.md. One thread. */
final class HardwareRow {
  private static final String UNKNOWN = "?";

  private final Map<RowColumn, String> cells = new EnumMap<>(RowColumn.class);

  /** What the table has above its rows. */
  static String header() {
    return line(Arrays.stream(RowColumn.values()).map(RowColumn::title));
  }

  /**
   * @param text empty for what could not be found out
   */
  HardwareRow with(RowColumn column, String text) {
    if (!text.isBlank()) {
      cells.put(column, text.strip());
    }
    return this;
  }

  /** One line of Markdown, without its end. */
  String markdown() {
    return line(
        Arrays.stream(RowColumn.values())
            .map(column -> cells.getOrDefault(column, UNKNOWN))
            .map(text -> text.replaceAll("\\s+", " ").replace("|", "\\|")));
  }

  /** Titles of the columns of which nothing is known. */
  List<String> unknown() {
    return Arrays.stream(RowColumn.values())
        .filter(column -> !cells.containsKey(column))
        .map(RowColumn::title)
        .toList();
  }

  private static String line(Stream<String> texts) {
    return texts.collect(Collectors.joining(" | ", "| ", " |"));
  }
}
