package dev.sluice.benchmarks.tpcds;

import java.util.List;

/**
 * An answer that Spark's own tests expect.
 *
 * @param schema the type of its rows
 * @param lines its rows, columns apart by tabs
 */
record GoldenAnswer(String schema, List<String> lines) {

  /** A file of Spark's tests: a comment, then schema and rows under headings of their own. */
  static GoldenAnswer parse(String file) {
    String[] sections = file.split("-- !query.*\n");
    if (sections.length != 3) {
      throw new IllegalArgumentException(sections.length + " sections in a golden answer, not 3");
    }
    // No rows are an empty line.
    List<String> rows = sections[2].isBlank() ? List.of() : sections[2].lines().toList();
    return new GoldenAnswer(sections[1].strip(), rows);
  }
}
