// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.sql.TPCDSSchema;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Generates the tables, which stay for later runs. {@link TpcdsCommand} calls it on its thread.
 * Several processes may generate them at a time: the first to end puts its tables in place.
 */
final class TpcdsData {
  /** Scale factor of Spark's golden answers: about 1 GB of text. */
  static final int SCALE = 1;

  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 2000;

  /** File that Spark writes last into a table's directory. */
  private static final String COMPLETE = "_SUCCESS";

  private TpcdsData() {}

  /** Returns the directory that has a directory of Parquet files for every table. */
  static Path directory() {
    return Installation.fromEnvironment().data().resolve("tpcds-sf" + SCALE);
  }

  /**
   * Generates the tables unless all exist.
   *
   * @param temporary temporary directory on the same file system, which must not exist
   */
  static void ensure(Path temporary) throws IOException, InterruptedException {
    if (complete(directory())) {
      return;
    }
    System.err.printf("generating %s%n", directory());
    Path tables = temporary.resolve("tables");
    new DriverProcess(temporary)
        .run(
            DataJob.class,
            Shuffle.STOCK,
            new ClusterConf(EXECUTORS, 1, MEMORY_MB, "off", Map.of()),
            tables.toString(),
            Integer.toString(SCALE),
            "1");
    publish(tables, directory());
    Directories.delete(temporary);
  }

  /** Puts generated tables in place, unless another process was faster. */
  static void publish(Path tables, Path kept) throws IOException {
    Directories.publish(tables, kept, TpcdsData::complete);
  }

  private static boolean complete(Path tables) {
    return TableColumns.byTable().keySet().stream()
        .allMatch(table -> Files.exists(tables.resolve(table).resolve(COMPLETE)));
  }

  /**
   * Columns of the TPC-DS tables as Spark's tests declare them: mixes in their Scala trait, whose
   * initializer sets the fields by the method with the long name.
   */
  static final class TableColumns implements TPCDSSchema {
    // Set by the trait's initializer.
    @SuppressWarnings("NullAway.Init")
    private scala.collection.immutable.Map<String, String> tableColumns;

    @SuppressWarnings("NullAway.Init")
    private scala.collection.immutable.Map<String, Seq<String>> tablePartitionColumns;

    private TableColumns() {
      TPCDSSchema.$init$(this);
    }

    /** Returns the columns by table, in the form that CREATE TABLE takes. */
    static Map<String, String> byTable() {
      return CollectionConverters.asJava(new TableColumns().tableColumns);
    }

    @Override
    public scala.collection.immutable.Map<String, String> tableColumns() {
      return tableColumns;
    }

    @Override
    public scala.collection.immutable.Map<String, Seq<String>> tablePartitionColumns() {
      return tablePartitionColumns;
    }

    @Override
    public void org$apache$spark$sql$TPCDSSchema$_setter_$tableColumns_$eq(
        scala.collection.immutable.Map<String, String> columns) {
      tableColumns = columns;
    }

    @Override
    public void org$apache$spark$sql$TPCDSSchema$_setter_$tablePartitionColumns_$eq(
        scala.collection.immutable.Map<String, Seq<String>> columns) {
      tablePartitionColumns = columns;
    }
  }
}
