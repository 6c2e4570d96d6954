// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.rdma.transfer.TransferCounter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A daemon tells of two applications: as JSON, to Prometheus, and on its page. */
@Timeout(60)
class NodeStatusTest extends NodeDaemonTestCase {
  private int port;

  @BeforeEach
  void choosePort() throws Exception {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    set(NodeSettings.HTTP, "127.0.0.1:" + port);
    start();
  }

  private String get(String path) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
              .timeout(Duration.ofSeconds(WAIT_S))
              .build();
      return http.send(request, BodyHandlers.ofString()).body();
    }
  }

  @Test
  void theStateIsJson() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient first = enter(OTHER, SECRET);
        NodeClient _ = later(APPLICATION)) {
      first.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      JsonNode state = new ObjectMapper().readTree(get("/api/v1"));
      assertThat(state.get("draining").booleanValue()).isFalse();
      assertThat(state.get("version").textValue())
          .isEqualTo(NodeMain.buildVersion().orElse("unknown"));
      assertThat(state.get("applications")).hasSize(2);
      JsonNode oldest = state.get("applications").get(0);
      assertThat(oldest.get("name").textValue()).isEqualTo(OTHER);
      assertThat(oldest.get("framework").textValue()).isEqualTo("spark");
      assertThat(oldest.get("device").textValue()).startsWith("soft ");
      assertThat(oldest.get("port").intValue()).isEqualTo(portOf(OTHER));
      assertThat(oldest.get("metrics")).hasSize(NodeMetric.values().length);
      assertThat(oldest.get("metrics").get("bytes").longValue()).isEqualTo(1_000);
      Files.createFile(directory.resolve("drain"));
      assertThat(new ObjectMapper().readTree(get("/api/v1")).get("draining").booleanValue())
          .isTrue();
    }
  }

  /** Ages are whole seconds. */
  private NodeClient later(String application) throws Exception {
    Thread.sleep(1_100);
    return enter(application, SECRET);
  }

  @Test
  void answersToReadersAreTimed() throws Exception {
    outputs.write(SHUFFLE, 10, 1_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeReader reader = new NodeReader(APPLICATION, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      String count = "sluice_node_application_request_seconds_count{application=\"%s\"} %d\n";
      assertThat(get("/metrics")).contains(count.formatted(APPLICATION, 0));
      assertThat(reader.isRegistered(executor.endpoint().peer(), SHUFFLE, 10)).isTrue();
      assertThat(get("/metrics"))
          .contains("# TYPE sluice_node_application_request_seconds histogram\n")
          .contains(count.formatted(APPLICATION, 1))
          .contains(",le=\"+Inf\"} 1\n");
    }
  }

  /** docs/metrics.md has one meaning for each name. */
  @Test
  void aCounterOfExecutorsHasTheirName() throws Exception {
    Set<String> ofExecutors = new TreeSet<>();
    for (RegistryCounter counter : RegistryCounter.values()) {
      ofExecutors.add("registry_" + counter.name().toLowerCase(Locale.ROOT));
    }
    for (TransferCounter counter : TransferCounter.values()) {
      ofExecutors.add("transfer_" + counter.name().toLowerCase(Locale.ROOT));
    }
    try (NodeClient _ = enter(APPLICATION, SECRET)) {
      Set<String> own =
          Pattern.compile("(?m)^sluice_node_application_(\\w+?)(_total)?\\{")
              .matcher(get("/metrics"))
              .results()
              .map(name -> name.group(1))
              .collect(Collectors.toCollection(TreeSet::new));
      assertThat(own)
          .contains(
              "registry_registered_bytes",
              "registry_staged_bytes",
              "registry_rejections",
              "transfer_queue_pairs_accepted",
              "transfer_queue_pairs_serving");
      own.removeAll(ofExecutors);
      assertThat(own)
          .containsExactlyInAnyOrder(
              "shuffles",
              "map_outputs",
              "bytes",
              "age_seconds",
              "silent_seconds",
              "request_seconds_bucket",
              "request_seconds_count",
              "request_seconds_sum");
    }
  }

  @Test
  void thePageHasARowForEachApplication() throws Exception {
    assertThat(get("/")).contains("This node serves no application.");
    outputs.write(SHUFFLE, 10, 2_000);
    try (NodeClient executor = enter(APPLICATION, SECRET);
        NodeClient _ = enter(OTHER, SECRET)) {
      executor.handOver(SHUFFLE, 10, outputs.find(SHUFFLE, 10));
      assertThat(get("/"))
          .contains("<span class=\"state serving\">serving</span>")
          .contains("<dd>1.95 KiB</dd>")
          .contains("<tr><th scope=\"row\">" + APPLICATION + "</th><td class=\"text\">spark</td>")
          .contains("<tr><th scope=\"row\">" + OTHER + "</th>")
          .doesNotContain("{rows}", "{columns}", SECRET, directory.toString());
      Files.createFile(directory.resolve("drain"));
      assertThat(get("/")).contains("<span class=\"state draining\">draining</span>");
    }
  }
}
