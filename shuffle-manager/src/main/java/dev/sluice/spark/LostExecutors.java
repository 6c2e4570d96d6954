package dev.sluice.spark;

import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockManagerRemoved;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/** Hears on the driver's listener bus that executors are gone. */
final class LostExecutors extends SparkListener {
  private final Consumer<String> lost;

  LostExecutors(Consumer<String> lost) {
    this.lost = lost;
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    lost.accept(event.executorId());
  }

  @Override
  public void onBlockManagerRemoved(SparkListenerBlockManagerRemoved event) {
    lost.accept(event.blockManagerId().executorId());
  }
}
