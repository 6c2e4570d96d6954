// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.stream.LongStream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;

/** The manager in one JVM, without RDMA. OwnManagerIT of spark-tests has it READ blocks. */
final class ArrivalOrderShuffleManagerTest {
  /** The serializer of SQL has one object for all rows of a block. */
  @Test
  void rowsOfSqlAreAllDifferent() throws IOException {
    try (SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.shuffle.manager", ArrivalOrderShuffleManager.class.getName())
            .config("spark.shuffle.rdma.provider", "off")
            .config("spark.ui.enabled", false)
            .getOrCreate()) {
      assertThat(spark.range(0, 1_000, 1, 4).repartition(3).collectAsList())
          .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 1_000).boxed().toList());
    }
  }
}
