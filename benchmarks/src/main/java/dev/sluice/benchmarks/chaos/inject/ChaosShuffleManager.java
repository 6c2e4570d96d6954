package dev.sluice.benchmarks.chaos.inject;

import dev.sluice.spark.RdmaShuffle;
import dev.sluice.spark.RdmaShuffleManager;
import dev.sluice.spark.SluiceShuffle;
import java.nio.file.Path;
import org.apache.spark.SparkConf;

/**
 * Sluice as it is, behind a device and a way to the driver that can be disturbed. What the harness
 * sets as {@code spark.shuffle.manager}.
 */
public final class ChaosShuffleManager extends RdmaShuffleManager {
  /** Where driver and executors exchange orders and answers. */
  public static final String DIRECTORY = "spark.sluice.chaos.directory";

  public ChaosShuffleManager(SparkConf conf, boolean isDriver) {
    ChaosOutside outside = new ChaosOutside();
    super(
        conf,
        stock ->
            isDriver
                ? RdmaShuffle.create(conf, true, stock) // nothing of a driver's is disturbed
                : new SluiceShuffle(conf, false, stock, outside));
    if (!isDriver) {
      outside.start(Path.of(conf.get(DIRECTORY)), this::unregisterShuffle);
    }
  }
}
