package dev.sluice.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDriverComponents;

/**
 * Spark's files on local disks, of which Spark is told that they outlive their executors: no map
 * task runs again because its executor is gone. Spark loads it by the name that {@link
 * NodeConfiguration} has set, on driver and executors. Compiled for Java 17.
 *
 * <p>That a shuffle is over the shuffle manager hears as always, from the driver's block manager,
 * which Spark's own driver components ask to remove it.
 */
public final class NodeShuffleDataIO extends LocalDiskShuffleDataIO {
  private final boolean areHandedOver;

  /** Called by Spark. */
  public NodeShuffleDataIO(SparkConf conf) {
    super(conf);
    areHandedOver = NodeConfiguration.isInEffect(conf);
  }

  @Override
  public ShuffleDriverComponents driver() {
    return new LocalDiskShuffleDriverComponents() {
      @Override
      public boolean supportsReliableStorage() {
        return areHandedOver;
      }
    };
  }
}
