// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/**
 * Records the last stage of each job, which reads the output of the job's other stages. Spark's
 * listener thread adds stages; the driver's main thread, which runs the jobs, takes one with {@link
 * #await} for each job. The bytes lag behind the job until that thread has handled its last event.
 */
public final class CompletedStages extends SparkListener {
  private static final long TIMEOUT_S = 60;

  private final BlockingQueue<StageInfo> stages = new LinkedBlockingQueue<>();
  private long remoteBytes;

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    remoteBytes += stage.taskMetrics().shuffleReadMetrics().remoteBytesRead();
    if (stage.shuffleDepId().isEmpty()) {
      stages.add(stage);
    }
  }

  /** Waits for the last stage of the next job, and returns it. */
  public StageInfo await() throws InterruptedException, TimeoutException {
    StageInfo stage = stages.poll(TIMEOUT_S, TimeUnit.SECONDS);
    if (stage == null) {
      throw new TimeoutException("Spark reported no completed stage within " + TIMEOUT_S + " s");
    }
    return stage;
  }

  /** Returns the bytes that all stages so far have read from other executors. */
  public synchronized long remoteBytes() {
    return remoteBytes;
  }
}
