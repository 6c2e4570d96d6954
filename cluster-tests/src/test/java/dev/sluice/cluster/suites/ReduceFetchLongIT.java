// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.TestReduceFetch;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hadoop's own tests of copies to memory, to disk, and to both, in jobs on HDFS whose map outputs
 * are READ. The tests share one cluster, where Hadoop's class starts one for each. They are
 * overridden only so that another version of Hadoop cannot lose one unnoticed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ReduceFetchLongIT extends TestReduceFetch {
  @TempDir private static Path directory;

  private int tests;

  @BeforeAll
  @Override
  public void setUp() throws Exception {
    System.setProperty(PluginCluster.FOLDER, directory.toString());
    super.setUp();
  }

  @AfterAll
  @Override
  public void tearDown() throws Exception {
    super.tearDown();
  }

  @AfterEach
  void allMapOutputsWereRead() throws Exception {
    PluginCluster cluster = (PluginCluster) mrCluster.getMrClientCluster();
    List<Counters> jobs = cluster.countersOfJobs();
    assertThat(jobs).as("a job of each test%n%s", cluster.logs()).hasSize(++tests);
    Counters counters = jobs.getLast();
    assertThat(counter(counters, "READ_BYTES")).as("%s", counters).isPositive();
    assertThat(counter(counters, "READ_MAP_OUTPUTS"))
        .as("%s", counters)
        .isEqualTo(counters.findCounter(TaskCounter.SHUFFLED_MAPS).getValue());
    assertThat(counter(counters, "HTTP_MAP_OUTPUTS")).as("%s", counters).isZero();
  }

  private static long counter(Counters counters, String name) {
    return counters.findCounter("Sluice shuffle", name).getValue();
  }

  @Test
  @Override
  public void testReduceFromMem() throws Exception {
    super.testReduceFromMem();
  }

  @Test
  @Override
  public void testReduceFromDisk() throws Exception {
    super.testReduceFromDisk();
  }

  @Test
  @Override
  public void testReduceFromPartialMem() throws Exception {
    super.testReduceFromPartialMem();
  }
}
