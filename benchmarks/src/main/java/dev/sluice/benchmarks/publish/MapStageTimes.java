package dev.sluice.benchmarks.publish;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/** Seconds that stages took which wrote a shuffle. Spark's listener thread calls it. */
final class MapStageTimes extends SparkListener {
  private static final long TIMEOUT_S = 60;

  private final BlockingQueue<Double> seconds = new LinkedBlockingQueue<>();

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    StageInfo stage = event.stageInfo();
    if (stage.shuffleDepId().isDefined()) {
      long start = (Long) stage.submissionTime().get();
      long end = (Long) stage.completionTime().get();
      seconds.add((end - start) / 1e3);
    }
  }

  /** The first {@code count} of them, in order. */
  double[] await(int count) throws InterruptedException, TimeoutException {
    double[] times = new double[count];
    for (int i = 0; i < count; i++) {
      Double next = seconds.poll(TIMEOUT_S, TimeUnit.SECONDS);
      if (next == null) {
        throw new TimeoutException(i + " of " + count + " map stages within " + TIMEOUT_S + " s");
      }
      times[i] = next;
    }
    return times;
  }
}
