// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import dev.sluice.testkit.AnsweringProcess;
import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import io.trino.tpcds.random.RandomNumberStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.fs.Path;
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
 * The driver that generates the tables and writes them as Parquet, with the conversions of Spark's
 * GenTPCDSData. {@link TpcdsData} starts it and waits for its end; on a cluster, spark-submit does.
 * One thread of a pool writes each table.
 *
 * @param target directory of the tables
 * @param scale scale factor: 1 for about 1 GB in all tables
 * @param parts number of tasks that generate a table of 1,000,000 rows or more, as the generator
 *     counts them; one task generates any other table
 */
public record DataJob(SparkSession spark, Path target, double scale, int parts) {
  /** Tables that are generated first, because they take longest. */
  private static final Set<String> LARGE =
      Set.of("store_sales", "store_returns", "catalog_sales", "catalog_returns", "inventory");

  /** Limit of rows in a file, so that several tasks can read a large table. */
  private static final long ROWS_OF_A_FILE = 1_000_000;

  /**
   * @param arguments directory of the tables (as a Hadoop path), scale, and number of tasks for a
   *     large table
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    Path target = new Path(arguments[0]);
    double scale = Double.parseDouble(arguments[1]);
    int parts = Integer.parseInt(arguments[2]);
    List<String> tables = new ArrayList<>(TableColumns.byTable().keySet());
    tables.sort((a, b) -> Boolean.compare(LARGE.contains(b), LARGE.contains(a)));
    try (SparkSession spark = SparkSession.builder().getOrCreate();
        ExecutorService threads = Executors.newFixedThreadPool(tables.size())) {
      DataJob job = new DataJob(spark, target, scale, parts);
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
        .parquet(new Path(target, table).toString());
  }

  private Dataset<Row> text(String table, StructType schema) {
    StructType text = new StructType();
    for (StructField field : schema.fields()) {
      text = text.add(field.name(), DataTypes.StringType);
    }
    return spark.createDataFrame(rows(spark, table, scale, parts), text);
  }

  /** Generates in tasks, which cannot have the session. */
  private static JavaRDD<Row> rows(SparkSession spark, String table, double scale, int parts) {
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(IntStream.rangeClosed(1, parts).boxed().toList(), parts)
        .flatMap(part -> Dsdgen.rows(table, scale, part, parts).map(DataJob::row).iterator());
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

  /**
   * The TPC-DS generator, with the seed of the golden answers. Tasks of {@link DataJob} call it in
   * executors. No class but this one may use the generator, since it sets the seed first.
   */
  static final class Dsdgen {
    static {
      try {
        GeneratorSeed.set(GeneratorSeed.OF_GOLDEN_ANSWERS);
      } catch (ReflectiveOperationException | IOException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private Dsdgen() {}

    /**
     * Generates rows of a table while they are iterated: columns as text, null or empty for a null
     * value, as Spark reads dsdgen's output. Tables of returns are generated as by {@code dsdgen
     * -table}, which generates the sales again. The first part has all rows of a small table.
     *
     * @param scale scale factor: 1 for about 1 GB in all tables
     * @param part number of this part, from 1
     * @param parts number of parts into which the table is split
     */
    static Stream<List<String>> rows(String table, double scale, int part, int parts) {
      Table generated = Table.getTable(table);
      Session session =
          Session.getDefaultSession()
              .withScale(scale)
              .withTable(generated)
              .withParallelism(parts)
              .withChunkNumber(part);
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

    /**
     * Changes the seed of the TPC-DS generator. The Java port has no {@code dsdgen -RNGSEED}: the
     * seed is a constant in one constructor. This class defines a copy of that class with another
     * constant, in the generator's class loader and before its first use. The jar stays as it is on
     * Maven Central, and its other classes are not affected.
     */
    static final class GeneratorSeed {
      /** Seed of the data from which the golden answers of Spark's TPCDSQueryTestSuite come. */
      static final int OF_GOLDEN_ANSWERS = 100;

      /** The generator's own seed, which the copied class replaces. */
      private static final int COMPILED_IN = 19620718;

      private static final byte CONSTANT_INTEGER = 3;

      private static final String CLASS_FILE = "RandomNumberStreamImpl.class";

      private GeneratorSeed() {}

      /**
       * Sets the seed. Call it once in a process, before the generator is used.
       *
       * @throws LinkageError if the generator's class is already loaded
       */
      static void set(int seed) throws IOException, IllegalAccessException {
        try (InputStream original = RandomNumberStream.class.getResourceAsStream(CLASS_FILE)) {
          MethodHandles.privateLookupIn(RandomNumberStream.class, MethodHandles.lookup())
              .defineClass(withSeed(original.readAllBytes(), seed));
        }
      }

      /** Returns the class file with another number in its one constant that is the seed. */
      private static byte[] withSeed(byte[] original, int seed) {
        byte[] changed = original.clone();
        byte[] constant = constant(COMPILED_IN);
        int places = 0;
        for (int at = 0; at + constant.length <= original.length; at++) {
          if (Arrays.equals(original, at, at + constant.length, constant, 0, constant.length)) {
            System.arraycopy(constant(seed), 0, changed, at, constant.length);
            places++;
          }
        }
        if (places != 1) {
          throw new IllegalStateException(
              CLASS_FILE + " has its seed in " + places + " places; expected 1");
        }
        return changed;
      }

      /** Returns an int as a class file has it among its constants (JVMS 4.4.4). */
      private static byte[] constant(int value) {
        return ByteBuffer.allocate(1 + Integer.BYTES).put(CONSTANT_INTEGER).putInt(value).array();
      }
    }
  }
}
