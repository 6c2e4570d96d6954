// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import dev.sluice.testkit.AnsweringProcess;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VarcharType;

/**
 * The driver process that generates the tables. One task generates each table and writes it as
 * Parquet, with the conversions of Spark's GenTPCDSData. {@link TpcdsData} starts it and waits for
 * its end. One thread of a pool writes each table.
 */
record DataJob(SparkSession spark, Path target) {
  /** Tables that are generated first, because they take longest. */
  private static final Set<String> LARGE =
      Set.of("store_sales", "store_returns", "catalog_sales", "catalog_returns", "inventory");

  /** Limit of rows in a file, so that several tasks can read a large table. */
  private static final long ROWS_OF_A_FILE = 1_000_000;

  /**
   * @param arguments target directory, and the number of tables at a time
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    Path target = Path.of(arguments[0]);
    int parallelism = Integer.parseInt(arguments[1]);
    List<String> tables = new ArrayList<>(TableColumns.byTable().keySet());
    tables.sort((a, b) -> Boolean.compare(LARGE.contains(b), LARGE.contains(a)));
    try (SparkSession spark = SparkSession.builder().getOrCreate();
        ExecutorService threads = Executors.newFixedThreadPool(parallelism)) {
      DataJob job = new DataJob(spark, target);
      List<Future<?>> writes = new ArrayList<>();
      for (String table : tables) {
        writes.add(threads.submit(() -> job.write(table)));
      }
      for (Future<?> write : writes) {
        write.get();
      }
    }
    out.println("generated");
  }

  private void write(String table) {
    StructType schema = StructType.fromDDL(TableColumns.byTable().get(table));
    Column[] columns =
        Arrays.stream(schema.fields()).map(DataJob::converted).toArray(Column[]::new);
    text(table, schema)
        .select(columns)
        .write()
        .option("maxRecordsPerFile", ROWS_OF_A_FILE)
        .parquet(target.resolve(table).toString());
  }

  private Dataset<Row> text(String table, StructType schema) {
    StructType text = new StructType();
    for (StructField field : schema.fields()) {
      text = text.add(field.name(), DataTypes.StringType);
    }
    JavaRDD<Row> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(List.of(table), 1)
            .flatMap(name -> Dsdgen.rows(name, TpcdsData.SCALE).map(DataJob::row).iterator());
    return spark.createDataFrame(rows, text);
  }

  private static Row row(List<String> values) {
    return RowFactory.create(
        values.stream().map(value -> value == null || value.isEmpty() ? null : value).toArray());
  }

  private static Column converted(StructField field) {
    Column text = functions.col(field.name());
    Column converted =
        switch (field.dataType()) {
          case CharType fixed -> functions.rpad(text, fixed.length(), " ");
          case VarcharType _ -> text;
          default -> text.cast(field.dataType());
        };
    return converted.as(field.name());
  }
}
