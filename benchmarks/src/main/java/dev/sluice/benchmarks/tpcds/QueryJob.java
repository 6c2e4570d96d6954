// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Executors.Measured;
import dev.sluice.testkit.Stages;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
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
 * The driver process that runs queries. Its main thread reads a line that is the name of a query,
 * runs the query and answers with a {@link QueryAttempt}. It answers the line {@link #TOTALS} with
 * Sluice's totals. The command sends one line at a time. {@link TpcdsCommand} starts and ends it.
 */
record QueryJob(SparkSession spark, Stages stages) {
  static final String TOTALS = "totals";

  /** Time for Spark's listener thread to count the bytes of the last query. */
  private static final long LISTENER_MS = 60_000;

  /**
   * @param arguments directory of the tables
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    try (SparkSession spark = SparkSession.builder().getOrCreate()) {
      Executors.await(JavaSparkContext.fromSparkContext(spark.sparkContext()));
      QueryJob job = new QueryJob(spark, new Stages());
      spark.sparkContext().addSparkListener(job.stages);
      job.createTables(Path.of(arguments[0]));
      AnsweringProcess.answer(
          out, line -> line.equals(TOTALS) ? job.totals() : job.run(new Query(line)));
    }
  }

  /** Creates tables as Spark's tests do: columns of type CHAR compare as such only in a table. */
  private void createTables(Path tables) {
    TableColumns.byTable()
        .forEach(
            (table, columns) ->
                spark.sql(
                    "CREATE TABLE `%s` (%s) USING parquet LOCATION '%s'"
                        .formatted(table, columns, tables.resolve(table).toUri())));
  }

  private QueryAttempt run(Query query) {
    try {
      Measured<Answer> measured = Executors.measure(() -> answer(query.text()));
      Answer answer = measured.result();
      return new QueryAttempt(
          measured.effort().seconds(),
          measured.effort().allCpuSeconds(),
          answer.rows(),
          answer.digest(),
          query.exclusion() != null ? null : answer.differenceFrom(query.golden()));
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

  private SluiceTotals totals() throws Exception {
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_MS);
    return SluiceTotals.await(spark.sparkContext().getConf(), stages);
  }
}
