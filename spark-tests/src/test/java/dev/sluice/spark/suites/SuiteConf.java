// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.suites;

import org.apache.spark.SparkConf;

/**
 * Settings that the build passes to Spark's suites by system properties: the shuffle manager, no
 * reading from another executor's disk, and READs of local blocks too.
 */
public final class SuiteConf {
  private static final String LOOPBACK = "spark.shuffle.rdma.testing.loopback";

  private SuiteConf() {}

  /**
   * Turns loopback READs off for suites in local-cluster mode, whose executors READ from each
   * other.
   */
  public static void withoutLoopback() {
    System.setProperty(LOOPBACK, "false");
  }

  /** Adds the settings for suites that take nothing from system properties. */
  static void addTo(SparkConf conf) {
    System.getProperties().stringPropertyNames().stream()
        .filter(key -> key.matches("spark\\.((shuffle|executor|serializer)\\..*|extraListeners)"))
        .forEach(key -> conf.set(key, System.getProperty(key)));
  }
}
