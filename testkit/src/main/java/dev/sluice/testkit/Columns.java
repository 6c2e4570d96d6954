// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.List;

/** Formats lines of cells as columns of text. */
public final class Columns {
  private Columns() {}

  /**
   * Returns the lines as text, with each cell padded to the width of its column.
   *
   * @param lines lines with the same number of cells each
   * @param before text before each line
   * @param between text between two cells
   * @param after text after each line
   */
  public static String align(
      List<List<String>> lines, String before, String between, String after) {
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      StringBuilder padded = new StringBuilder(before);
      for (int column = 0; column < line.size(); column++) {
        String cell = line.get(column);
        padded.append(column == 0 ? "" : between);
        padded.append(cell).repeat(' ', width(lines, column) - cell.length());
      }
      text.append(padded.append(after).toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static int width(List<List<String>> lines, int column) {
    return lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(0);
  }
}
