// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.storm.StormCase.Workload;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workloads in this process, with few and small blocks. */
class WorkloadShufflesTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = "RDD_.*")
  void repetitionsReadTheSameRecordsOfAsManyShufflesAsTheWorkloadPromises(Workload workload)
      throws Exception {
    StormCase storm = StormCase.of(workload, 2, 2, 100);
    SparkConf conf = new SparkConf(false).setMaster("local[1]").setAppName("workload");
    conf.set("spark.ui.enabled", "false");
    storm.conf().forEach(conf::set);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Stages stages = new Stages();
      spark.sc().addSparkListener(stages);
      Supplier<Sums> repetition = workload.prepare(spark, storm);
      Sums first = repetition.get();
      assertThat(repetition.get()).isEqualTo(first);
      spark.sc().listenerBus().waitUntilEmpty();
      boolean writesEachTime = workload == Workload.RDD_ITERATIVE;
      assertThat(stages.shuffles()).hasSize(writesEachTime ? 2 * workload.jobs() : 1);
      assertThat(first.records()).isPositive();
    }
  }
}
