// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDriverComponents;

/**
 * Spark's files on local disks, declared to outlive their executors: Spark runs no map task again
 * because its executor is lost. Spark loads the class by the name that {@link NodeConfiguration}
 * sets, on driver and executors. Compiled for Java 17.
 *
 * <p>The shuffle manager still learns that a shuffle is over from the driver's block manager, which
 * Spark's own driver components ask to remove it.
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
