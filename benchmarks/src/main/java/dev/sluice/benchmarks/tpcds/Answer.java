// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Answer of a query, in a form that does not depend on its execution. Rows are sorted, since few
 * queries define their total order. Floating-point numbers are rounded, since their sums depend on
 * the order in which blocks arrive. {@link QueryJob} makes it in the driver; only its digest and
 * difference leave that process.
 */
final class Answer {
  /**
   * Significant digits that count: a double has 15, and a sum in another order fewer exact ones.
   */
  private static final MathContext PRECISION = new MathContext(10);

  private static final int DIGEST_BYTES = 8;

  private final StructType schema;
  private final List<String> lines;

  /**
   * @param lines rows as Spark's command line prints them
   */
  Answer(StructType schema, Collection<String> lines) {
    this.schema = schema;
    this.lines = normal(lines);
  }

  int rows() {
    return lines.size();
  }

  /** Returns a digest that is equal for equal answers. */
  String digest() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(schema.catalogString().getBytes(StandardCharsets.UTF_8));
      lines.forEach(line -> digest.update(('\n' + line).getBytes(StandardCharsets.UTF_8)));
      return HexFormat.of().formatHex(digest.digest(), 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }

  /** Returns the difference from a golden answer; null if there is none. */
  @Nullable String differenceFrom(GoldenAnswer golden) {
    if (!schema.catalogString().equals(golden.schema())) {
      return "schema is %s, but should be %s".formatted(schema.catalogString(), golden.schema());
    }
    List<String> expected = normal(golden.lines());
    if (lines.equals(expected)) {
      return null;
    }
    List<String> wrong = without(lines, expected);
    List<String> missing = without(expected, lines);
    return "%d rows: %d wrong, such as %s; %d missing, such as %s"
        .formatted(rows(), wrong.size(), first(wrong), missing.size(), first(missing));
  }

  private List<String> normal(Collection<String> rows) {
    return rows.stream().map(this::normal).sorted().toList();
  }

  /** Golden answers have {@code #x} for text like an expression id, such as "#5". */
  private String normal(String row) {
    StructField[] fields = schema.fields();
    String[] values = row.replaceAll("#\\d+", "#x").split("\t", -1);
    for (int i = 0; i < Math.min(fields.length, values.length); i++) {
      boolean number = values[i].matches("-?\\d.*");
      if (number && fields[i].dataType().equals(DataTypes.DoubleType)) {
        values[i] = new BigDecimal(values[i]).round(PRECISION).stripTrailingZeros().toString();
      }
    }
    return String.join("\t", values).strip();
  }

  private static List<String> without(List<String> lines, List<String> others) {
    List<String> rest = new ArrayList<>(lines);
    others.forEach(rest::remove);
    return rest;
  }

  private static String first(List<String> lines) {
    return lines.isEmpty() ? "none" : Arrays.toString(lines.getFirst().split("\t"));
  }

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
}
