package dev.sluice.spark;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code spark.shuffle.rdma.node} makes of the driver's configuration. {@code required}: Spark
 * is told that map outputs outlive their executors, and nothing in it keeps an executor for their
 * sake or looks for them where it was. {@code auto}: Spark is told nothing. A shuffle manager's
 * constructor sees to it, before Spark reads any of these keys and before executors start, which
 * get them as they are then. Compiled for Java 17.
 */
final class NodeConfiguration {
  static final String NODE = "spark.shuffle.rdma.node";
  static final String INCARNATION = "spark.shuffle.rdma.node.incarnation";

  private static final Logger LOG = LoggerFactory.getLogger(NodeConfiguration.class);
  private static final String PROVIDER = "spark.shuffle.rdma.provider";
  private static final String PLUGIN = "spark.shuffle.sort.io.plugin.class";
  private static final String SPARKS_SERVICE = "spark.shuffle.service.enabled";

  private static final Map<String, String> OF_SPARK =
      Map.of(
          PLUGIN,
          NodeShuffleDataIO.class.getName(),
          // Else no executor that has written map outputs is ever released.
          "spark.dynamicAllocation.shuffleTracking.enabled",
          "false",
          // Else an executor that is gone is asked where its files were.
          "spark.shuffle.readHostLocalDisk",
          "false",
          // What a node has need not move when an executor of it is decommissioned.
          "spark.storage.decommission.shuffleBlocks.enabled",
          "false");

  /** Neither end of a connection asks the other, and nodes' block servers have these. */
  private static final Map<String, String> OF_CRYPTO =
      Map.of(
          "spark.network.crypto.authEngineVersion",
          "1",
          "spark.network.crypto.cipher",
          "AES/CTR/NoPadding");

  private NodeConfiguration() {}

  static boolean isRequired(SparkConf conf) {
    return conf.get(NODE, "off").equals("required");
  }

  /**
   * Sets what it takes, for this run of the application alone.
   *
   * @param lack why Sluice does not run here; empty where it does
   * @throws IllegalStateException where what is required cannot be, with the reason
   */
  static void prepare(SparkConf conf, String lack) {
    conf.remove(INCARNATION); // as of a configuration that was copied
    if (isRequired(conf)) {
      require(conf, lack);
    } else if (conf.get(NODE, "off").equals("auto")) {
      use(conf);
    }
  }

  private static void use(SparkConf conf) {
    String notSpoken = notSpoken(conf);
    if (notSpoken.isEmpty()) {
      name(conf);
    } else {
      LOG.warn("No node's block server is used: {}", notSpoken);
    }
  }

  /** How Spark encrypts its network where nodes' block servers do not; empty where they do. */
  private static String notSpoken(SparkConf conf) {
    Map<String, String> spoken = new TreeMap<>(Map.of("spark.ssl.rpc.enabled", "false"));
    if (conf.getBoolean("spark.network.crypto.enabled", false)) {
      spoken.putAll(OF_CRYPTO);
    }
    return spoken.keySet().stream()
        .filter(key -> !conf.get(key, spoken.get(key)).equalsIgnoreCase(spoken.get(key)))
        .map(key -> key + " is " + conf.get(key) + ", which nodes' block servers do not speak")
        .findFirst()
        .orElse("");
  }

  private static void name(SparkConf conf) {
    conf.set(INCARNATION, HexFormat.of().toHexDigits(new SecureRandom().nextLong()));
  }

  /** Whether a shuffle manager of ours has called {@link #prepare}. */
  static boolean isInEffect(SparkConf conf) {
    return isRequired(conf) && conf.contains(INCARNATION);
  }

  private static void require(SparkConf conf, String lack) {
    if (!lack.isEmpty()) {
      throw refusal(lack);
    }
    if (conf.get(PROVIDER, "auto").equals("off")) {
      throw refusal(PROVIDER + " is \"off\"");
    }
    if (conf.getBoolean(SPARKS_SERVICE, false)) {
      throw refusal(SPARKS_SERVICE + " is true: one service has the map outputs, or the other");
    }
    String notSpoken = notSpoken(conf);
    if (!notSpoken.isEmpty()) {
      throw refusal(notSpoken);
    }
    String plugin = conf.get(PLUGIN, OF_SPARK.get(PLUGIN));
    if (!plugin.equals(OF_SPARK.get(PLUGIN))
        && !plugin.equals(LocalDiskShuffleDataIO.class.getName())) {
      throw refusal(PLUGIN + " is " + plugin + ", whose map outputs may not be files");
    }
    OF_SPARK.forEach(conf::set);
    name(conf);
    LOG.info("Map outputs become the nodes' block servers', so that {}", new TreeMap<>(OF_SPARK));
  }

  private static IllegalStateException refusal(String reason) {
    return new IllegalStateException(NODE + " is \"required\", but " + reason);
  }
}
