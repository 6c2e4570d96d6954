// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodePagesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Keeps the warnings of the JDK's server. */
  private static final class Warnings extends Handler {
    private final List<String> messages = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord entry) {
      if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
        messages.add(entry.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private final Logger logger = Logger.getLogger("com.sun.net.httpserver");
  private final Warnings warnings = new Warnings();
  private final HttpClient http = HttpClient.newHttpClient();
  private volatile boolean draining;
  private volatile boolean failing;
  private int port;
  private NodePages pages;

  @BeforeEach
  void open() throws Exception {
    logger.addHandler(warnings);
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    pages =
        new NodePages(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            () -> {
              if (failing) {
                throw new IllegalStateException("scripted");
              }
              return List.of();
            },
            () -> draining,
            Map::of);
  }

  @AfterEach
  void close() {
    logger.removeHandler(warnings);
    http.close();
    pages.close();
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(TIMEOUT)
            .method(method, method.equals("POST") ? BodyPublishers.ofString("x") : noBody())
            .build();
    return http.send(request, BodyHandlers.ofString());
  }

  private static HttpRequest.BodyPublisher noBody() {
    return BodyPublishers.noBody();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/api/v1", "/metrics", "/healthz", "/readyz"})
  void headHasTheHeadersOfGet(String path) throws Exception {
    HttpResponse<String> get = send("GET", path);
    HttpResponse<String> head = send("HEAD", path);
    assertThat(get.statusCode()).isEqualTo(200);
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
    assertThat(head.headers().allValues("Content-Type"))
        .hasSize(1)
        .isEqualTo(get.headers().allValues("Content-Type"));
    List<String> length = head.headers().allValues("Content-Length");
    assertThat(length).hasSize(1);
    if (!path.equals("/metrics")) { // Values of the process have other digits each time.
      assertThat(length).isEqualTo(get.headers().allValues("Content-Length"));
    }
    assertThat(warnings.messages).isEmpty();
  }

  /** A browser would only say that the connection was closed. */
  @Test
  void aPageThatCannotBeMadeIsAnsweredAndLogged() throws Exception {
    failing = true;
    try (LogCapture log = new LogCapture(NodePages.class, org.apache.logging.log4j.Level.WARN)) {
      assertThat(send("GET", "/api/v1").statusCode()).isEqualTo(500);
      assertThat(send("HEAD", "/").statusCode()).isEqualTo(500);
      assertThat(log.messages()).hasSize(2).first().asString().contains("/api/v1");
    }
    failing = false;
    assertThat(send("GET", "/api/v1").statusCode()).isEqualTo(200);
  }

  @Test
  void versionsAreShown() throws Exception {
    String version = NodeMain.buildVersion().orElse("unknown");
    assertThat(send("GET", "/metrics").body())
        .contains(
            "sluice_node_build_info{java=\"%s\",version=\"%s\"} 1%n"
                .formatted(Runtime.version(), version));
    assertThat(send("GET", "/").body()).contains("sluice-node " + version);
  }

  @Test
  void theProcessIsMeasuredToo() throws Exception {
    assertThat(send("GET", "/metrics").body())
        .containsPattern("\njvm_memory_used_bytes\\{area=\"heap\"} [1-9]")
        .containsPattern("\nprocess_open_fds [1-9]");
  }

  @ParameterizedTest
  @CsvSource({
    "application/openmetrics-text;version=1.0.0, application/openmetrics-text; version=1.0.0",
    "text/plain;version=0.0.4, text/plain; version=0.0.4",
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily, text/plain",
    "*/*, text/plain; version=0.0.4"
  })
  void aScraperGetsTheFormatThatItAsksFor(String accept, String type) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
            .timeout(TIMEOUT)
            .header("Accept", accept)
            .build();
    HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith(type);
    assertThat(response.body().endsWith("# EOF\n")).isEqualTo(type.contains("openmetrics"));
  }

  @ParameterizedTest
  @CsvSource({"POST, /metrics", "PUT, /api/v1", "DELETE, /", "OPTIONS, /healthz"})
  void otherMethodsAreNotAllowed(String method, String path) throws Exception {
    HttpResponse<String> response = send(method, path);
    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow")).hasValue("GET, HEAD");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api",
        "/api/v1/",
        "/metricsfoo",
        "/metrics/",
        "/healthzz",
        "/readyz/x",
        "/favicon.ico"
      })
  void otherPathsAreNotFound(String path) throws Exception {
    assertThat(send("GET", path).statusCode()).isEqualTo(404);
    assertThat(send("HEAD", path).statusCode()).isEqualTo(404);
    assertThat(send("POST", path).statusCode()).isEqualTo(404);
    assertThat(warnings.messages).isEmpty();
  }

  @Test
  void aDrainedNodeIsAliveAndNotReady() throws Exception {
    assertThat(send("GET", "/readyz").body()).isEqualTo("ok\n");
    draining = true;
    assertThat(send("GET", "/readyz").statusCode()).isEqualTo(503);
    assertThat(send("HEAD", "/readyz").statusCode()).isEqualTo(503);
    assertThat(send("GET", "/healthz").statusCode()).isEqualTo(200);
    draining = false;
    assertThat(send("GET", "/readyz").statusCode()).isEqualTo(200);
  }
}
