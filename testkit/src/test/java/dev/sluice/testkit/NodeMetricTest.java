// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeMetricTest {
  private static final String METRICS =
      """
      sluice_node_applications 2
      sluice_node_application_map_outputs{application="a"} 3
      sluice_node_application_map_outputs{application="b"} 1.0E7
      """;

  /** The fault harness counts the open files of the process that reads the metrics. */
  @Test
  void readingAMetricLeavesNoFileOpen(@TempDir Path folder) throws Exception {
    HttpServer daemon =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    daemon.createContext(
        "/metrics",
        exchange -> {
          byte[] body = METRICS.getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    daemon.start();
    try {
      Files.writeString(
          folder.resolve("node.properties"),
          "sluice.node.http=127.0.0.1:" + daemon.getAddress().getPort());
      assertThat(new NodeProcess(folder).metric("map_outputs")).isEqualTo(10_000_003);
      assertThat(ExecutorProcess.driver().descriptors())
          .noneMatch(target -> target.endsWith("node.properties"));
    } finally {
      daemon.stop(0);
    }
  }
}
