// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.spark.RdmaShuffle;
import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.SluiceShuffle;
import java.nio.file.Path;
import org.apache.spark.SparkConf;

/**
 * Sluice's shuffle manager with a device and a driver channel that can be disturbed. The harness
 * sets it as {@code spark.shuffle.manager}; Spark creates and stops it in driver and executors.
 * Only executors are disturbed.
 */
public final class ChaosShuffleManager extends RdmaShuffleManager {
  /** Setting: the directory in which driver and executors exchange orders and answers. */
  public static final String DIRECTORY = "spark.sluice.chaos.directory";

  public ChaosShuffleManager(SparkConf conf, boolean isDriver) {
    this(conf, isDriver, new ChaosBackends());
  }

  private ChaosShuffleManager(SparkConf conf, boolean isDriver, ChaosBackends outside) {
    super(
        conf,
        stock ->
            isDriver
                ? RdmaShuffle.create(conf, true, stock) // the driver is not disturbed
                : new SluiceShuffle(conf, false, stock, outside));
    if (!isDriver) {
      outside.start(Path.of(conf.get(DIRECTORY)), this::unregisterShuffle);
    }
  }
}
