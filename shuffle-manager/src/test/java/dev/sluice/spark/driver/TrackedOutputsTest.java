// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Access to Spark's own map output tracker. */
class TrackedOutputsTest {
  @Test
  void executorsOfLiveShufflesAreThoseThatMapStatusesName() {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("test")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
      TrackedOutputs outputs = new TrackedOutputs(tracker);
      assertThat(outputs.executors()).isEmpty();
      context
          .parallelize(List.of(1, 2, 3), 2)
          .mapToPair(number -> new Tuple2<>(number, number))
          .groupByKey(2)
          .count();
      assertThat(outputs.liveShuffles()).containsExactly(0);
      assertThat(outputs.executors()).containsExactly("driver");

      outputs.lost("driver");
      assertThat(outputs.executors()).isEmpty();
      assertThat(outputs.liveShuffles()).containsExactly(0);
    }
  }
}
