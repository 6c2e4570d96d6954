// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

final class NodeSocketTest {
  private static final Map<String, String> OF_NODE_MANAGER =
      Map.of(
          "NM_AUX_SERVICE_sluice_node",
          Base64.getEncoder().encodeToString("/disk/node.sock".getBytes(StandardCharsets.UTF_8)));

  @Test
  void theNodeManagersSocketIsTheDefault() {
    SparkConf conf = new SparkConf(false);
    assertThat(NodeSocket.of(conf, Map.of())).isEqualTo(Path.of("/run/sluice/node.sock"));
    assertThat(NodeSocket.of(conf, OF_NODE_MANAGER)).isEqualTo(Path.of("/disk/node.sock"));

    conf.set("spark.shuffle.rdma.node.socket", "/set/node.sock");
    assertThat(NodeSocket.of(conf, OF_NODE_MANAGER)).isEqualTo(Path.of("/set/node.sock"));
  }
}
