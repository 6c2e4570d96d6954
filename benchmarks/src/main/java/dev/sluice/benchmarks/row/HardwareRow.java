// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.row;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A machine's row of the table in docs/dev/hardware-rows.md. {@link RowCommand} creates it on its
 * thread; {@link RowFacts} and {@link RowReads} fill it there.
 */
final class HardwareRow {
  private static final String UNKNOWN = "?";

  private final Map<RowColumn, String> cells = new EnumMap<>(RowColumn.class);

  /** Returns the header line of the table. */
  static String header() {
    return line(Arrays.stream(RowColumn.values()).map(RowColumn::title));
  }

  /**
   * @param text text of the cell; blank if the fact is unknown
   */
  HardwareRow with(RowColumn column, String text) {
    if (!text.isBlank()) {
      cells.put(column, text.strip());
    }
    return this;
  }

  /** Returns one line of Markdown without a line break. */
  String markdown() {
    return line(
        Arrays.stream(RowColumn.values())
            .map(column -> cells.getOrDefault(column, UNKNOWN))
            .map(text -> text.replaceAll("\\s+", " ").replace("|", "\\|")));
  }

  /** Returns the titles of the columns without text. */
  List<String> unknown() {
    return Arrays.stream(RowColumn.values())
        .filter(column -> !cells.containsKey(column))
        .map(RowColumn::title)
        .toList();
  }

  private static String line(Stream<String> texts) {
    return texts.collect(Collectors.joining(" | ", "| ", " |"));
  }

  /**
   * Columns of the table in docs/dev/hardware-rows.md, in their order; a new one changes that
   * table, too.
   */
  enum RowColumn {
    DEVICE("device"),
    FIRMWARE("firmware"),
    LINK("link"),
    KERNEL("kernel"),
    RDMA_CORE("rdma-core"),
    HOSTS("hosts"),
    READ_64_KIB("READ of 64 KiB, MiB/s"),
    READ_1_MIB("READ of 1 MiB, MiB/s"),
    READ_2_B("READ of 2 B, us"),
    TERASORT("TeraSort");

    private final String title;

    RowColumn(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }
}
