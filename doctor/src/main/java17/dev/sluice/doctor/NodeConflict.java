// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

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
  private static final String SPARKS_SERVICE = "spark.shuffle.service.enabled";

  /** Spark's encryption as node daemons have it; the ends of a connection do not negotiate it. */
  private static final Map<String, String> OF_CRYPTO =
      Map.of(
          "spark.network.crypto.authEngineVersion",
          "1",
          "spark.network.crypto.cipher",
          "AES/CTR/NoPadding");

  /**
   * Returns the first conflict; empty if there is none.
   *
   * @param values returns the text that is set for a key; null if none is
   */
  public static Optional<NodeConflict> of(UnaryOperator<String> values) {
    if ("off".equals(values.apply(PROVIDER))) {
      return Optional.of(new NodeConflict(PROVIDER, "auto", PROVIDER + " is \"off\""));
    }
    if ("true".equalsIgnoreCase(values.apply(SPARKS_SERVICE))) {
      return Optional.of(
          new NodeConflict(
              SPARKS_SERVICE,
              "false",
              SPARKS_SERVICE
                  + " is true: map outputs go either to Spark's external shuffle service or to node"
                  + " daemons"));
    }
    return notSpoken(values).or(() -> plugin(values));
  }

  /** Returns a setting of Spark's encryption that node daemons do not support. */
  private static Optional<NodeConflict> notSpoken(UnaryOperator<String> values) {
    Map<String, String> spoken = new TreeMap<>(Map.of("spark.ssl.rpc.enabled", "false"));
    if ("true".equalsIgnoreCase(values.apply("spark.network.crypto.enabled"))) {
      spoken.putAll(OF_CRYPTO);
    }
    for (Map.Entry<String, String> entry : spoken.entrySet()) {
      String key = entry.getKey();
      String value = values.apply(key);
      if (value != null && !value.equalsIgnoreCase(entry.getValue())) {
        return Optional.of(
            new NodeConflict(
                key,
                entry.getValue(),
                key + " is " + value + ", which node daemons do not support"));
      }
    }
    return Optional.empty();
  }

  private static Optional<NodeConflict> plugin(UnaryOperator<String> values) {
    String plugin = values.apply(PLUGIN);
    return plugin == null || plugin.equals(OUR_PLUGIN) || plugin.equals(SPARKS_PLUGIN)
        ? Optional.empty()
        : Optional.of(
            new NodeConflict(
                PLUGIN,
                SPARKS_PLUGIN,
                PLUGIN + " is " + plugin + ", whose map outputs may not be files"));
  }
}
