// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.storm.StormCase.Workload;
import org.junit.jupiter.api.Test;

class StormCaseTest {
  private static final StormCase KRYO = StormCase.of(Workload.RDD_KRYO, 400, 400, 1000);

  @Test
  void aNameContainsTheSizes() {
    assertThat(KRYO.name()).isEqualTo("rdd-kryo-400x400-1KB");
    assertThat(new StormCase(Workload.RDD_KRYO, 64, 64, 1 << 20, true, false).name())
        .isEqualTo("rdd-kryo-64x64-1MiB-cold");
    assertThat(new StormCase(Workload.RDD_KRYO, 64, 64, 1 << 20, true, true).name())
        .isEqualTo("rdd-kryo-64x64-1MiB-cold-new");
    assertThat(StormCase.of(Workload.RDD_KRYO, 32, 16, 1 << 20).name())
        .isEqualTo("rdd-kryo-32x16-1MiB");
    assertThat(StormCase.of(Workload.SQL_REPARTITION, 1, 2, 200).name())
        .isEqualTo("sql-repartition-1x2-0.2KB");
  }

  @Test
  void aRepetitionOfSeveralJobsHasTheReduceTasksOfAll() {
    assertThat(KRYO.reduceTasks()).isEqualTo(400);
    assertThat(StormCase.of(Workload.RDD_ITERATIVE, 16, 16, 1000).reduceTasks()).isEqualTo(960);
  }

  @Test
  void comesBackFromJsonAsItWas() throws Exception {
    ObjectMapper json = new ObjectMapper();
    assertThat(json.readValue(json.writeValueAsString(KRYO), StormCase.class)).isEqualTo(KRYO);
  }

  @Test
  void theConfigurationIsTheWorkloadsAndTheCases() {
    assertThat(KRYO.conf()).containsEntry("spark.shuffle.compress", "false");
    assertThat(StormCase.of(Workload.SQL_REPARTITION, 400, 300, 300).conf())
        .containsEntry("spark.sql.adaptive.enabled", "false")
        .doesNotContainKey("spark.shuffle.compress");
    assertThat(StormCase.of(Workload.SQL_AGGREGATE, 400, 300, 300).conf())
        .containsEntry("spark.sql.shuffle.partitions", "300")
        .doesNotContainKey("spark.sql.adaptive.enabled");
  }
}
