package dev.sluice.spark;

import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/**
 * Hears on the driver's listener bus that executors are gone for good: Spark never uses an id
 * again.
 *
 * <p>That an executor's block manager is removed says less. A fetch failure removes that of an
 * executor which may live on, and which may have published what it has written since by the time
 * that the bus gets here. What it published before does no harm: Spark has given up those map
 * outputs, and nobody asks for them.
 */
final class LostExecutors extends SparkListener {
  private final Consumer<String> lost;

  LostExecutors(Consumer<String> lost) {
    this.lost = lost;
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    lost.accept(event.executorId());
  }
}
