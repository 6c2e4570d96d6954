// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The manager in one JVM, without RDMA. OwnManagerIT of spark-tests has it READ blocks. */
final class ArrivalOrderShuffleManagerTest {
  @TempDir Path directory;

  /** The serializer of SQL has one object for all rows of a block. */
  @Test
  void rowsOfSqlAreAllDifferent() throws IOException {
    try (SparkSession spark = start()) {
      assertThat(spark.range(0, 1_000, 1, 4).repartition(3).collectAsList())
          .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 1_000).boxed().toList());
    }
  }

  /** Spark fails to open a block without index file, and its input stream without data file. */
  @ParameterizedTest
  @ValueSource(strings = {".index", ".data"})
  void mapOutputsOfThisExecutorAreWrittenAgainIfTheirFilesAreMissing(String suffix)
      throws IOException {
    try (SparkSession spark = start()) {
      RDD<Row> shuffled = spark.range(0, 1_000, 1, 4).repartition(3).toDF().rdd();
      assertThat(shuffled.count()).isEqualTo(1_000);
      delete(suffix);
      assertThat(shuffled.count()).isEqualTo(1_000);
    }
  }

  private void delete(String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> outputs = files.filter(file -> file.toString().endsWith(suffix)).toList();
      assertThat(outputs).hasSize(4);
      for (Path output : outputs) {
        Files.delete(output);
      }
    }
  }

  private SparkSession start() {
    return SparkSession.builder()
        .master("local[2]")
        .config("spark.local.dir", directory.toString())
        .config("spark.shuffle.manager", ArrivalOrderShuffleManager.class.getName())
        .config("spark.shuffle.rdma.provider", "off")
        .config("spark.ui.enabled", false)
        .getOrCreate();
  }
}
