// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.spark.SparkConf;

/**
 * Socket of the node daemon: the configured one, else the one that YARN's NodeManager gives. {@link
 * SluiceConf} calls it, on any thread. It looks for no file.
 */
final class NodeSocket {
  /**
   * Data of the auxiliary service sluice_node, from a NodeManager to its containers, in Base64. Its
   * name is YARN's prefix and that of the service.
   */
  private static final String OF_NODE_MANAGER = "NM_AUX_SERVICE_sluice_node";

  private NodeSocket() {}

  static Path of(SparkConf conf, Map<String, String> environment) {
    String told = environment.get(OF_NODE_MANAGER);
    if (told == null || conf.contains(Settings.NODE_SOCKET.key())) {
      return Settings.get(conf, Settings.NODE_SOCKET);
    }
    return Path.of(new String(Base64.getDecoder().decode(told), StandardCharsets.UTF_8));
  }
}
