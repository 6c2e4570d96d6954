package dev.sluice.benchmarks;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/**
 * Takes down the last stage of each job, which reads what the others have shuffled. Spark's
 * listener thread fills it, the thread that runs the jobs empties it.
 */
public final class CompletedStages extends SparkListener {
  private static final long TIMEOUT_S = 60;

  private final BlockingQueue<StageInfo> stages = new LinkedBlockingQueue<>();
  private final AtomicLong remoteBytes = new AtomicLong();

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    remoteBytes.addAndGet(stage.taskMetrics().shuffleReadMetrics().remoteBytesRead());
    if (stage.shuffleDepId().isEmpty()) {
      stages.add(stage);
    }
  }

  /** The next one, in order, once it is complete. */
  public StageInfo await() throws InterruptedException, TimeoutException {
    StageInfo stage = stages.poll(TIMEOUT_S, TimeUnit.SECONDS);
    if (stage == null) {
      throw new TimeoutException("no stage was reported within " + TIMEOUT_S + " s");
    }
    return stage;
  }

  /** From submission to completion. */
  public static double wallSeconds(StageInfo stage) {
    return ((Long) stage.completionTime().get() - (Long) stage.submissionTime().get()) / 1e3;
  }

  /** What all stages so far have read from other executors. */
  public long remoteBytes() {
    return remoteBytes.get();
  }
}
