package dev.sluice.benchmarks.tpcds;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The TPC-DS generator, with the seed of the golden answers. */
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
   * A table's rows, made while one iterates: their columns as text, null or empty where the value
   * is null, as Spark reads what dsdgen writes. Tables of returns come as by {@code dsdgen -table}:
   * the sales are made once more.
   *
   * @param scale 1 for about 1 GB in all tables
   */
  static Stream<List<String>> rows(String table, double scale) {
    Table generated = Table.getTable(table);
    Session session = Session.getDefaultSession().withScale(scale).withTable(generated);
    Results results = Results.constructResults(generated, session);
    return StreamSupport.stream(results.spliterator(), false)
        .map(rows -> rows.getFirst().stream().map(Dsdgen::asRead).toList());
  }

  /**
   * Names of countries have letters that dsdgen writes in ISO 8859-1 and Spark reads as UTF-8: the
   * golden answers have U+FFFD in their place.
   */
  private static String asRead(String value) {
    return value == null || value.chars().allMatch(letter -> letter < 0x80)
        ? value
        : new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
