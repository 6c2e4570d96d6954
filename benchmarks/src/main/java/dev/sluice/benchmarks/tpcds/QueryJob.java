// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Executors.Measured;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.Stages;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.apache.hadoop.fs.Path;
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
 * The driver that runs queries on its main thread. After each run it prints a line of JSON, the
 * {@link QueryResult} so far; at the end it writes {@link QueryResults} to a file. {@link
 * TpcdsCommand} starts it and sends names of queries by its standard input, so that two drivers can
 * take turns; on a cluster, spark-submit starts it with the names.
 *
 * @param scale scale factor of the tables
 * @param results results so far by query
 */
public record QueryJob(
    SparkSession spark, Stages stages, double scale, SequencedMap<String, QueryResult> results) {
  /** Argument for names that come by standard input, each in a line. */
  static final String STANDARD_INPUT = "-";

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Time for Spark's listener thread to count the bytes of the last query. */
  private static final long LISTENER_MS = 60_000;

  /**
   * @param arguments directory of the tables (as a Hadoop path) and their scale; queries as {@link
   *     Query#listed} takes them, or {@link #STANDARD_INPUT}; and the result file
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    try (SparkSession spark = SparkSession.builder().getOrCreate()) {
      Executors.await(JavaSparkContext.fromSparkContext(spark.sparkContext()));
      double scale = Double.parseDouble(arguments[1]);
      QueryJob job = new QueryJob(spark, new Stages(), scale, new LinkedHashMap<>());
      spark.sparkContext().addSparkListener(job.stages);
      job.createTables(new Path(arguments[0]));
      if (arguments[2].equals(STANDARD_INPUT)) {
        AnsweringProcess.answer(out, name -> job.run(new Query(name)));
      } else {
        for (Query query : Query.listed(arguments[2])) {
          out.println(JSON.writeValueAsString(job.run(query)));
        }
      }
      JsonFile.write(java.nio.file.Path.of(arguments[3]), job.end());
    }
  }

  /** Creates tables as Spark's tests do: columns of type CHAR compare as such only in a table. */
  private void createTables(Path tables) {
    TableColumns.byTable()
        .forEach(
            (table, columns) ->
                spark.sql(
                    "CREATE TABLE `%s` (%s) USING parquet LOCATION '%s'"
                        .formatted(table, columns, new Path(tables, table))));
  }

  private QueryResult run(Query query) {
    QueryResult result =
        results.computeIfAbsent(query.name(), name -> new QueryResult(name, new ArrayList<>()));
    result.attempts().add(attempt(query));
    return result;
  }

  private QueryAttempt attempt(Query query) {
    try {
      Measured<Answer> measured = Executors.measure(() -> answer(query.text()));
      Answer answer = measured.result();
      boolean golden = scale == TpcdsData.SCALE && query.exclusion() == null;
      return new QueryAttempt(
          measured.effort().seconds(),
          measured.effort().allCpuSeconds(),
          answer.rows(),
          answer.digest(),
          golden ? answer.differenceFrom(query.golden()) : null);
    } catch (Exception e) { // Scala throws checked exceptions that it does not declare.
      String problem = e.toString().lines().findFirst().orElseThrow();
      return new QueryAttempt(0, 0, 0, null, problem);
    }
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

  private QueryResults end() throws Exception {
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_MS);
    SluiceTotals totals = SluiceTotals.await(spark.sparkContext().getConf(), stages);
    return new QueryResults(List.copyOf(results.values()), totals);
  }

  /**
   * Results of a driver ({@link QueryJob}), which sends them to the command in a file of JSON.
   *
   * @param queries results in the order in which the queries ran first
   * @param totals Sluice's counters
   */
  record QueryResults(List<QueryResult> queries, SluiceTotals totals) {}
}
