package dev.sluice.spark.suites;

import org.apache.spark.SparkConf;

/**
 * What the build says to Spark's suites by system properties: the shuffle manager, that nothing is
 * read from another executor's disk, and that local blocks are READ too.
 */
public final class SuiteConf {
  private static final String LOOPBACK = "spark.shuffle.rdma.testing.loopback";

  private SuiteConf() {}

  /** For suites in local-cluster mode, whose executors have each other to READ from. */
  public static void withoutLoopback() {
    System.setProperty(LOOPBACK, "false");
  }

  /** For suites that take nothing from system properties. */
  static void addTo(SparkConf conf) {
    System.getProperties().stringPropertyNames().stream()
        .filter(key -> key.matches("spark\\.((shuffle|executor|serializer)\\..*|extraListeners)"))
        .forEach(key -> conf.set(key, System.getProperty(key)));
  }
}
