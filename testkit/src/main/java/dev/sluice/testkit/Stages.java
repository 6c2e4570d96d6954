// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.FetchFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;

/**
 * Watches the stages of a driver's jobs. Spark's listener thread calls it; any thread may ask it.
 * Numbers lag behind a job until that thread has handled its last event.
 */
public final class Stages extends SparkListener {
  private static final long TIMEOUT_S = 60;

  /** Completed stages that are the last of their job: they read the output of the others. */
  private final BlockingQueue<StageInfo> last = new LinkedBlockingQueue<>();

  private long remoteBytes;
  private volatile boolean mapStage;
  private volatile boolean reduceStage;
  private final Set<Integer> shuffles = ConcurrentHashMap.newKeySet();
  private final Set<Long> runningTasks = ConcurrentHashMap.newKeySet();
  private int retries;
  private int fetchFailures;
  private int failedTasks;

  /** Lost executors by id: Spark reports a decommissioned one twice. */
  private final Set<String> lostExecutors = ConcurrentHashMap.newKeySet();

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    StageInfo stage = submitted.stageInfo();
    if (stage.attemptNumber() > 0) {
      retries++;
    }
    if (stage.shuffleDepId().isDefined()) {
      shuffles.add((Integer) stage.shuffleDepId().get());
    }
    if (!stage.parentIds().isEmpty()) {
      reduceStage = true;
    } else if (stage.shuffleDepId().isDefined()) { // not a stage that only samples
      mapStage = true;
    }
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo stage = completed.stageInfo();
    remoteBytes += stage.taskMetrics().shuffleReadMetrics().remoteBytesRead();
    if (stage.shuffleDepId().isEmpty()) {
      last.add(stage);
    }
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart start) {
    runningTasks.add(start.taskInfo().taskId());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    runningTasks.remove(end.taskInfo().taskId());
    if (end.reason() instanceof FetchFailed) {
      fetchFailures++;
    } else if (end.reason() instanceof ExceptionFailure) {
      failedTasks++;
    }
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    lostExecutors.add(removed.executorId());
  }

  /** Waits for the last stage of the next job, and returns it. */
  public StageInfo await() throws InterruptedException, TimeoutException {
    StageInfo stage = last.poll(TIMEOUT_S, TimeUnit.SECONDS);
    if (stage == null) {
      throw new TimeoutException("Spark reported no completed stage within " + TIMEOUT_S + " s");
    }
    return stage;
  }

  /** Returns the seconds from submission to completion. */
  public static double wallSeconds(StageInfo stage) {
    return ((Long) stage.completionTime().get() - (Long) stage.submissionTime().get()) / 1e3;
  }

  /** Returns the bytes that all stages so far have read from other executors. */
  public synchronized long remoteBytes() {
    return remoteBytes;
  }

  /** Returns true if a reduce stage has begun or, if {@code reduce} is false, a map stage. */
  public boolean hasBegun(boolean reduce) {
    return reduce ? reduceStage : mapStage;
  }

  public synchronized Losses losses() {
    return new Losses(retries, fetchFailures, failedTasks, lostExecutors.size());
  }

  public int lostExecutors() {
    return lostExecutors.size();
  }

  /** Returns the ids of the shuffles that were written. */
  public Set<Integer> shuffles() {
    return Set.copyOf(shuffles);
  }

  /** Returns the running tasks; some run on after their job was given up. */
  public List<Long> runningTasks() {
    return List.copyOf(runningTasks);
  }

  /**
   * Work that Spark had to repeat. {@link Stages} counts it; {@code ChaosRun} judges it.
   *
   * @param stageRetries stages that were run again
   * @param fetchFailures tasks that ended with a FetchFailedException
   * @param failedTasks tasks that ended with another exception
   * @param executors executors that were lost
   */
  public record Losses(int stageRetries, int fetchFailures, int failedTasks, int executors) {
    public static final Losses NONE = new Losses(0, 0, 0, 0);

    public int withoutRetries() {
      return fetchFailures + failedTasks + executors;
    }
  }
}
