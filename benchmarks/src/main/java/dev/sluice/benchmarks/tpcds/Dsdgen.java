// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The TPC-DS generator, with the seed of the golden answers. Tasks of {@link DataJob} call it in
 * executors. No class but this one may use the generator, since it sets the seed first.
 */
final class Dsdgen {
  static {
    try {
      GeneratorSeed.set(GeneratorSeed.OF_GOLDEN_ANSWERS);
    } catch (ReflectiveOperationException | IOException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private Dsdgen() {}

  /**
   * Generates a table's rows while they are iterated: columns as text, null or empty for a null
   * value, as Spark reads dsdgen's output. Tables of returns are generated as by {@code dsdgen
   * -table}, which generates the sales again.
   *
   * @param scale scale factor: 1 for about 1 GB in all tables
   */
  static Stream<List<String>> rows(String table, double scale) {
    Table generated = Table.getTable(table);
    Session session = Session.getDefaultSession().withScale(scale).withTable(generated);
    Results results = Results.constructResults(generated, session);
    return StreamSupport.stream(results.spliterator(), false)
        .map(rows -> rows.getFirst().stream().map(Dsdgen::asRead).toList());
  }

  /**
   * Decodes names of countries as Spark does: dsdgen writes ISO 8859-1, Spark reads UTF-8. Golden
   * answers therefore have U+FFFD for their non-ASCII letters.
   */
  private static String asRead(String value) {
    return value == null || value.chars().allMatch(letter -> letter < 0x80)
        ? value
        : new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
