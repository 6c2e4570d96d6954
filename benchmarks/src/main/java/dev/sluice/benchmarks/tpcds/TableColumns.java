// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import org.apache.spark.sql.TPCDSSchema;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Columns of the TPC-DS tables as Spark's tests declare them: mixes in their Scala trait, whose
 * initializer sets the fields by the method with the long name.
 */
final class TableColumns implements TPCDSSchema {
  private Map<String, String> tableColumns;
  private Map<String, Seq<String>> tablePartitionColumns;

  private TableColumns() {
    TPCDSSchema.$init$(this);
  }

  /** Returns the columns by table, in the form that CREATE TABLE takes. */
  static java.util.Map<String, String> byTable() {
    return CollectionConverters.asJava(new TableColumns().tableColumns);
  }

  @Override
  public Map<String, String> tableColumns() {
    return tableColumns;
  }

  @Override
  public Map<String, Seq<String>> tablePartitionColumns() {
    return tablePartitionColumns;
  }

  @Override
  public void org$apache$spark$sql$TPCDSSchema$_setter_$tableColumns_$eq(
      Map<String, String> columns) {
    tableColumns = columns;
  }

  @Override
  public void org$apache$spark$sql$TPCDSSchema$_setter_$tablePartitionColumns_$eq(
      Map<String, Seq<String>> columns) {
    tablePartitionColumns = columns;
  }
}
