// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleScheduler;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleSchedulerImpl;
import org.apache.hadoop.util.Progress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The thread with Hadoop's scheduler, and an application master that the test scripts. */
@Timeout(60)
final class MapEventsTest {
  private static final TaskAttemptID REDUCE =
      TaskAttemptID.forName("attempt_1700000000000_0012_r_000000_0");
  private static final int MAPS = 250;

  /** With this number, one call tells at most 100 events. */
  private static final int REDUCERS = 100_000;

  private final ScriptedMaster master = new ScriptedMaster();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final ShuffleSchedulerImpl<Text, IntWritable> scheduler = scheduler();
  private final MapEvents events = events(scheduler);

  private ShuffleSchedulerImpl<Text, IntWritable> scheduler() {
    JobConf conf = new JobConf(false);
    conf.setNumMapTasks(MAPS);
    return new ShuffleSchedulerImpl<>(
        conf,
        new ReduceStatus(),
        REDUCE,
        failures::add,
        new Progress(),
        new Counters.Counter(),
        new Counters.Counter(),
        new Counters.Counter());
  }

  private MapEvents events(ShuffleScheduler<Text, IntWritable> told) {
    return new MapEvents(REDUCE, master.protocol(), told, failures::add, REDUCERS);
  }

  @AfterEach
  void endThreads() throws InterruptedException {
    scheduler.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = Status.class,
      names = {"OBSOLETE", "FAILED", "KILLED"})
  void theNextAttemptReplacesOneWhoseOutputIsGone(Status gone) throws Exception {
    master.tell(map(0, 0), Status.SUCCEEDED);
    master.tell(map(1, 0), Status.SUCCEEDED);
    events.ask();
    master.tell(map(0, 0), gone);
    master.tell(map(0, 1), Status.SUCCEEDED);
    events.ask();
    MapHost host = scheduler.getHost();
    assertThat(host.getHostName()).isEqualTo("node:13562");
    assertThat(scheduler.getMapsForHost(host)).containsExactlyInAnyOrder(map(1, 0), map(0, 1));
  }

  @Test
  void nothingIsCopiedOfTasksThatFailed() throws Exception {
    for (int task = 1; task < MAPS; task++) {
      master.tell(map(task, 0), Status.TIPFAILED);
    }
    events.ask();
    assertThat(scheduler.waitUntilDone(1)).isFalse();
    master.tell(map(0, 3), Status.TIPFAILED);
    events.ask();
    assertThat(scheduler.waitUntilDone(1)).isTrue();
  }

  @Test
  void manyEventsAreToldInSeveralCalls() throws Exception {
    for (int task = 0; task < MAPS; task++) {
      master.tell(map(task, 0), Status.TIPFAILED);
    }
    events.ask();
    assertThat(master.asked).containsExactly(0, 100, 200);
    assertThat(scheduler.waitUntilDone(1)).isTrue();
    events.ask();
    assertThat(master.asked).containsExactly(0, 100, 200, MAPS);
  }

  @Test
  void failuresInARowFailTheShuffle() throws Exception {
    IOException failure = new IOException("scripted");
    fail(failure, MapEvents.MAX_FAILURES - 1);
    master.failure = null;
    events.ask();
    fail(failure, MapEvents.MAX_FAILURES - 1);
    assertThatThrownBy(events::ask)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(MapEvents.MAX_FAILURES + " attempts")
        .hasCause(failure);
  }

  private void fail(IOException failure, int times) throws IOException {
    master.failure = failure;
    for (int i = 0; i < times; i++) {
      events.ask();
    }
  }

  @Test
  void aFailureOfTheThreadIsReported() throws Exception {
    IllegalStateException failure = new IllegalStateException("scripted");
    master.failure = failure;
    events.start();
    events.join();
    assertThat(failures).containsExactly(failure);
  }

  @Test
  void aThreadThatIsStoppedReportsNothing() throws Exception {
    events.start();
    while (master.asked.isEmpty()) {
      Thread.sleep(1);
    }
    events.shutDown();
    assertThat(events.isAlive()).isFalse();
    assertThat(failures).isEmpty();
  }

  @Test
  void aThreadThatIsStoppedWhileItTellsAnEventReportsNothing() throws Exception {
    master.tell(map(0, 0), Status.SUCCEEDED);
    MapEvents interrupted = events(new InterruptedScheduler());
    interrupted.start();
    interrupted.join();
    assertThat(failures).isEmpty();
  }

  private static TaskAttemptID map(int task, int attempt) {
    return TaskAttemptID.forName(
        String.format("attempt_1700000000000_0012_m_%06d_%d", task, attempt));
  }

  /** Throws as if a thread were interrupted in it. */
  private static final class InterruptedScheduler implements ShuffleScheduler<Text, IntWritable> {
    @Override
    public void resolve(TaskCompletionEvent event) throws InterruptedException {
      throw new InterruptedException("scripted");
    }

    @Override
    public boolean waitUntilDone(int millis) {
      return false;
    }

    @Override
    public void close() {}
  }
}
