// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Path;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.counters.Limits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counters of a task of Hadoop's, which has some of its own. */
final class ShuffleCountersTest {
  private static final TaskAttemptID REDUCE =
      TaskAttemptID.forName("attempt_1700000000000_0012_r_000000_0");

  /** Counters of this group that the task below has. */
  private static final int COUNTERS = 6;

  @TempDir private Path directory;

  private Task.TaskReporter reporter;
  private ShuffleCounters counters;

  @BeforeEach
  void count() throws Exception {
    JobConf conf = new JobConf(false);
    conf.set(MRConfig.LOCAL_DIR, directory.toString());
    ReduceTask task = new ReduceTask("job.xml", REDUCE, 0, 1, 1);
    task.setConf(conf);
    reporter = task.new TaskReporter(task.getProgress(), new ScriptedMaster().protocol());
    counters =
        new ShuffleCounters(
            ReduceContext.of(task, conf, null, reporter, null, new Counters.Counter()));
    counters.read(100);
    counters.read(20);
    counters.byHttp(HttpReason.PEER, 3);
    counters.byHttp(HttpReason.STAGING, 4);
    counters.byHttp(HttpReason.STAGING, 5);
  }

  /** Makes the task's own counters. */
  private void countOwn(int number) {
    for (int i = 0; i < number; i++) {
      reporter.incrCounter("own", "counter " + i, 1);
    }
  }

  private long counted(String name) {
    return reporter.getCounter(ShuffleCounters.GROUP, name).getValue();
  }

  @Test
  void countersThatFitAreReported() {
    countOwn(Limits.getCountersMax() - 2 * COUNTERS);
    counters.report();
    assertThat(counted("READ_BYTES")).isEqualTo(120);
    assertThat(counted("READ_MAP_OUTPUTS")).isEqualTo(2);
    assertThat(counted("HTTP_BYTES")).isEqualTo(12);
    assertThat(counted("HTTP_MAP_OUTPUTS")).isEqualTo(3);
    assertThat(counted("HTTP_PEER")).isEqualTo(1);
    assertThat(counted("HTTP_STAGING")).isEqualTo(2);
  }

  /** A task that exceeded the limit once cannot count, or tell its counters, any more. */
  @Test
  void countersThatDoNotFitTakeNothingFromTheTask() {
    int max = Limits.getCountersMax();
    countOwn(max - COUNTERS + 1);
    counters.report();
    assertThatCode(() -> countOwn(max - 2)) // Hadoop makes a few of its own
        .doesNotThrowAnyException();
  }
}
