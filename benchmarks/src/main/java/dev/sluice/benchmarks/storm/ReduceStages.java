package dev.sluice.benchmarks.storm;

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
final class ReduceStages extends SparkListener {
  private static final long TIMEOUT_S = 60;

  private final BlockingQueue<ReduceStage> stages = new LinkedBlockingQueue<>();
  private final AtomicLong remoteBytes = new AtomicLong();

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    remoteBytes.addAndGet(stage.taskMetrics().shuffleReadMetrics().remoteBytesRead());
    if (stage.shuffleDepId().isEmpty()) {
      stages.add(ReduceStage.of(stage));
    }
  }

  /** That of the next job, once it is complete. */
  ReduceStage await() throws InterruptedException, TimeoutException {
    ReduceStage stage = stages.poll(TIMEOUT_S, TimeUnit.SECONDS);
    if (stage == null) {
      throw new TimeoutException("no reduce stage was reported within " + TIMEOUT_S + " s");
    }
    return stage;
  }

  /** What the stages so far have read from other executors. */
  long remoteBytes() {
    return remoteBytes.get();
  }
}
