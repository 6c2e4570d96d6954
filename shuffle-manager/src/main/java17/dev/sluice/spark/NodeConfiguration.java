// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.doctor.NodeConflict;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the driver's configuration for {@code spark.shuffle.rdma.node=on}. Spark is told that map
 * outputs outlive their executors. It then releases executors that have map outputs, and does not
 * ask a lost executor for them. {@link RdmaShuffle#create} calls it on the driver, in a shuffle
 * manager's constructor: before Spark reads any of these keys, and before executors start, which
 * receive the changed keys. Executors only read them. Compiled for Java 17.
 */
final class NodeConfiguration {
  static final String NODE = "spark.shuffle.rdma.node";

  /** Distinguishes runs of one application id; {@code SluiceConf#application} contains it. */
  static final String INCARNATION = "spark.shuffle.rdma.node.incarnation";

  private static final Logger LOG = LoggerFactory.getLogger(NodeConfiguration.class);

  private static final Map<String, String> OF_SPARK =
      Map.of(
          NodeConflict.PLUGIN,
          NodeConflict.OUR_PLUGIN,
          // Otherwise no executor that has written map outputs is ever released.
          "spark.dynamicAllocation.shuffleTracking.enabled",
          "false",
          // Otherwise Spark asks a lost executor where its files are.
          "spark.shuffle.readHostLocalDisk",
          "false",
          // Map outputs that a node has need not move when one of its executors is decommissioned.
          "spark.storage.decommission.shuffleBlocks.enabled",
          "false");

  /** Two names for one value. */
  private static final Set<String> ON = Set.of("on", "required");

  private NodeConfiguration() {}

  static boolean isRequired(SparkConf conf) {
    return ON.contains(conf.get(NODE, "off").strip());
  }

  /**
   * Sets the keys that {@link #NODE} requires, for this run of the application only.
   *
   * @param lack why Sluice does not run here; empty if it does
   * @throws IllegalStateException if other settings contradict it, with the reason
   */
  static void prepare(SparkConf conf, String lack) {
    conf.remove(INCARNATION); // a copied configuration may have one
    if (isRequired(conf)) {
      require(conf, lack);
    }
  }

  /**
   * Returns true if {@link #NODE} is on, and a shuffle manager of ours has called {@link #prepare}.
   */
  static boolean isInEffect(SparkConf conf) {
    return isRequired(conf) && conf.contains(INCARNATION);
  }

  private static void require(SparkConf conf, String lack) {
    if (!lack.isEmpty()) {
      throw refusal(conf, lack);
    }
    List<NodeConflict> conflicts = NodeConflict.all(key -> conf.get(key, null));
    if (!conflicts.isEmpty()) {
      throw refusal(conf, conflicts.get(0).reason());
    }
    OF_SPARK.forEach(conf::set);
    conf.set(INCARNATION, HexFormat.of().toHexDigits(new SecureRandom().nextLong()));
    LOG.info(
        "Map outputs are handed over to node daemons; therefore these keys are set: {}",
        new TreeMap<>(OF_SPARK));
  }

  private static IllegalStateException refusal(SparkConf conf, String reason) {
    return new IllegalStateException(setting(conf) + ", but " + reason);
  }

  /** Returns the key with its value, for the beginning of a message. */
  static String setting(SparkConf conf) {
    return NODE + " is \"" + conf.get(NODE, "off") + "\"";
  }
}
