// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;

/**
 * Reports executors that are lost for good, from the driver's listener bus. Spark never uses their
 * ids again. {@link DriverRuntime} adds it to the bus's management queue, whose thread calls it.
 * Other listeners of that queue wait meanwhile, so it must not block.
 *
 * <p>The removal of an executor's block manager would be weaker evidence. A fetch failure causes it
 * as well, and then the executor may live on. Until the bus delivers the event, that executor may
 * have published new map outputs. Older ones in the table do no harm: Spark has given them up, so
 * no reader asks for them.
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
