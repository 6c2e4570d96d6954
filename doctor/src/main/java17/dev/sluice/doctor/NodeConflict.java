// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Setting that {@code spark.shuffle.rdma.node=on} excludes, because map outputs would not come to
 * node daemons or readers would not get them from there. On the driver {@code NodeConfiguration}
 * ends the application with the reason; the doctor reports it before. Compiled for Java 17, as its
 * callers.
 *
 * @param key key of the setting
 * @param wanted value that it needs; the key may also be removed
 * @param reason reason in words, which names key and value
 */
public record NodeConflict(String key, String wanted, String reason) {
  /** Key of the shuffle data plug-in. */
  public static final String PLUGIN = "spark.shuffle.sort.io.plugin.class";

  /** Shuffle data plug-in by which Spark learns that map outputs outlive their executors. */
  public static final String OUR_PLUGIN = "dev.sluice.spark.NodeShuffleDataIO";

  private static final String SPARKS_PLUGIN =
      "org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO";

  private static final String PROVIDER = "spark.shuffle.rdma.provider";

  /** Switch of Spark's external shuffle service. */
  public static final String SPARKS_SERVICE = "spark.shuffle.service.enabled";

  /** Spark's encryption as node daemons have it; the ends of a connection do not negotiate it. */
  private static final Map<String, String> OF_CRYPTO =
      Map.of(
          "spark.network.crypto.authEngineVersion",
          "1",
          "spark.network.crypto.cipher",
          "AES/CTR/NoPadding");

  /**
   * Returns all conflicts; none if the settings go with node daemons.
   *
   * @param values returns the text that is set for a key; null if none is
   */
  public static List<NodeConflict> all(UnaryOperator<String> values) {
    List<NodeConflict> conflicts = new ArrayList<>();
    if (text(values, PROVIDER).equals("off")) {
      conflicts.add(new NodeConflict(PROVIDER, "auto", PROVIDER + " is \"off\""));
    }
    if (isTrue(values, SPARKS_SERVICE)) {
      conflicts.add(
          new NodeConflict(
              SPARKS_SERVICE,
              "false",
              SPARKS_SERVICE
                  + " is true: map outputs go either to Spark's external shuffle service or to node"
                  + " daemons"));
    }
    conflicts.addAll(notSpoken(values));
    plugin(text(values, PLUGIN)).ifPresent(conflicts::add);
    return conflicts;
  }

  private static boolean isTrue(UnaryOperator<String> values, String key) {
    return text(values, key).equalsIgnoreCase("true");
  }

  /** Returns the text without spaces around it, which Spark drops; empty if none is set. */
  private static String text(UnaryOperator<String> values, String key) {
    String text = values.apply(key);
    return text == null ? "" : text.strip();
  }

  /** Returns settings of Spark's encryption that node daemons do not support. */
  private static List<NodeConflict> notSpoken(UnaryOperator<String> values) {
    Map<String, String> spoken = new TreeMap<>(Map.of("spark.ssl.rpc.enabled", "false"));
    if (isTrue(values, "spark.network.crypto.enabled")) {
      spoken.putAll(OF_CRYPTO);
    }
    List<NodeConflict> conflicts = new ArrayList<>();
    spoken.forEach(
        (key, wanted) -> {
          String value = text(values, key);
          if (!value.isEmpty() && !value.equalsIgnoreCase(wanted)) {
            conflicts.add(
                new NodeConflict(
                    key, wanted, key + " is " + value + ", which node daemons do not support"));
          }
        });
    return conflicts;
  }

  private static Optional<NodeConflict> plugin(String plugin) {
    return plugin.isEmpty() || plugin.equals(OUR_PLUGIN) || plugin.equals(SPARKS_PLUGIN)
        ? Optional.empty()
        : Optional.of(
            new NodeConflict(
                PLUGIN,
                SPARKS_PLUGIN,
                PLUGIN + " is " + plugin + ", whose map outputs may not be files"));
  }
}
