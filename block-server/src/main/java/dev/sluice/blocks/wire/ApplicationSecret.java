// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Secret by which processes of one application authenticate to a node daemon, and the transport
 * that does so. A node daemon has one for each application, a reduce task has the one of its job.
 * Immutable; any thread.
 */
public record ApplicationSecret(String secret) implements SecretKeyHolder {
  private static final Map<String, String> AUTHENTICATION =
      Map.of("spark.network.crypto.enabled", "true", "spark.network.crypto.saslFallback", "true");

  /**
   * Returns the configuration of a transport with SASL (all that {@code spark.authenticate}
   * enables) and with Spark's AES.
   *
   * @param further further settings, such as {@code spark.sluice.io.serverThreads}
   */
  public static TransportConf transport(Map<String, String> further) {
    Map<String, String> values = new HashMap<>(AUTHENTICATION);
    values.putAll(further);
    return new TransportConf("sluice", new MapConfigProvider(values));
  }

  /** User name of Spark's SecurityManager. */
  @Override
  public String getSaslUser(String appId) {
    return "sparkSaslUser";
  }

  /** Returns the secret whatever id is given: a port or a reader has one application. */
  @Override
  public String getSecretKey(String appId) {
    return secret;
  }

  @Override
  public String toString() {
    return "a secret"; // keeps it out of logs
  }
}
