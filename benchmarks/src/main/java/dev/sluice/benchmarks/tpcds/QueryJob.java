package dev.sluice.benchmarks.tpcds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.StandardOutput;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.HiveResult;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The driver process that runs queries, one after the other, and each some times in a row. Started
 * and ended by {@link TpcdsCommand}.
 */
final class QueryJob {
  private static final long TOTALS_MS = 15_000;

  /**
   * What the driver is told, as one JSON object.
   *
   * @param tables directory with the tables
   * @param queries names
   * @param repetitions of each query
   * @param golden whether answers are compared with Spark's golden ones
   * @param result file to write
   */
  record Order(
      Shuffle shuffle,
      int round,
      String tables,
      List<String> queries,
      int repetitions,
      boolean golden,
      String result) {}

  private final SparkSession spark;
  private final Order order;

  private QueryJob(SparkSession spark, Order order) {
    this.spark = spark;
    this.order = order;
  }

  /**
   * @param arguments an {@link Order}
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = StandardOutput.claim();
    ObjectMapper json = new ObjectMapper();
    Order order = json.readValue(arguments[0], Order.class);
    try (SparkSession spark = SparkSession.builder().getOrCreate()) {
      Executors.await(JavaSparkContext.fromSparkContext(spark.sparkContext()));
      ProcessResult result = new QueryJob(spark, order).run(out);
      json.writeValue(Path.of(order.result()).toFile(), result);
    }
  }

  private ProcessResult run(PrintStream progress) throws InterruptedException {
    createTables();
    List<QueryResult> results = new ArrayList<>();
    for (String name : order.queries()) {
      QueryResult result = run(new Query(name));
      results.add(result);
      progress.printf(
          Locale.ROOT,
          "%s, round %d: %d/%d %s %.2f s%s%n",
          order.shuffle().label(),
          order.round() + 1,
          results.size(),
          order.queries().size(),
          name,
          result.seconds().length == 0 ? Double.NaN : result.seconds()[result.seconds().length - 1],
          result.problem() == null ? "" : ", " + result.problem());
    }
    return new ProcessResult(order.shuffle(), order.round(), results, totals());
  }

  /** As Spark's tests do, for columns of type CHAR compare as such only in a table. */
  private void createTables() {
    TableColumns.byTable()
        .forEach(
            (table, columns) ->
                spark.sql(
                    "CREATE TABLE `%s` (%s) USING parquet LOCATION '%s'"
                        .formatted(table, columns, Path.of(order.tables(), table).toUri())));
  }

  private QueryResult run(Query query) {
    List<Double> seconds = new ArrayList<>();
    Answer first = null;
    String problem = null;
    try {
      for (int i = 0; i < order.repetitions() && problem == null; i++) {
        long start = System.nanoTime();
        Answer answer = answer(query.text());
        seconds.add((System.nanoTime() - start) / 1e9);
        if (first == null) {
          first = answer;
          problem = problemOf(query, answer);
        } else if (!answer.digest().equals(first.digest())) {
          problem = "two repetitions differ in their answers";
        }
      }
    } catch (Exception e) { // Scala throws checked ones that it does not declare.
      problem = e.toString().lines().findFirst().orElseThrow();
    }
    return new QueryResult(
        query.name(),
        seconds.stream().mapToDouble(Double::doubleValue).toArray(),
        first == null ? 0 : first.rows(),
        first == null ? null : first.digest(),
        problem);
  }

  private String problemOf(Query query, Answer answer) {
    if (!order.golden() || query.exclusion() != null) {
      return null;
    }
    return answer.differenceFrom(query.golden());
  }

  private Answer answer(String text) {
    Dataset<Row> rows = spark.sql(text);
    QueryExecution execution = rows.queryExecution();
    List<String> lines =
        CollectionConverters.asJava(
            SQLExecution.withNewExecutionId(
                execution,
                Option.apply(text),
                () -> HiveResult.hiveResultString(execution.executedPlan())));
    return new Answer(rows.schema(), lines);
  }

  private SluiceTotals totals() throws InterruptedException {
    if (order.shuffle() != Shuffle.SLUICE) {
      return SluiceTotals.NONE;
    }
    return SluiceTotals.await(totals -> totals.readBytes() > 0, TOTALS_MS);
  }
}
