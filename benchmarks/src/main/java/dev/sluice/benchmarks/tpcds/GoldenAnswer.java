// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import java.util.List;

/**
 * An answer that Spark's tests expect. {@link QueryJob} compares it with an {@link Answer} in the
 * driver.
 *
 * @param schema type of its rows
 * @param lines its rows, with columns separated by tabs
 */
record GoldenAnswer(String schema, List<String> lines) {

  /** Parses a file of Spark's tests: a comment, then schema and rows, each under a heading. */
  static GoldenAnswer parse(String file) {
    String[] sections = file.split("-- !query.*\n");
    if (sections.length != 3) {
      throw new IllegalArgumentException(sections.length + " sections in a golden answer, not 3");
    }
    // An empty answer is an empty line.
    List<String> rows = sections[2].isBlank() ? List.of() : sections[2].lines().toList();
    return new GoldenAnswer(sections[1].strip(), rows);
  }
}
