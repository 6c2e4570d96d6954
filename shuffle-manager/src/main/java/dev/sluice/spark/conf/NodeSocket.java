package dev.sluice.spark.conf;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Where the node's block server listens: as is set, else where YARN's NodeManager says. */
final class NodeSocket {
  /** What a NodeManager tells its containers of its auxiliary service sluice_node, by Base64. */
  private static final String OF_NODE_MANAGER = "NM_AUX_SERVICE_sluice_node";

  private NodeSocket() {}

  static Path of(SparkConf conf, Map<String, String> environment) {
    String told = environment.get(OF_NODE_MANAGER);
    if (told == null || conf.contains(Settings.NODE_SOCKET.key())) {
      return Settings.NODE_SOCKET.get(conf);
    }
    return Path.of(new String(Base64.getDecoder().decode(told), StandardCharsets.UTF_8));
  }
}
