// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Serves the node's pages over HTTP to any client: metrics, probes, and a table for people. They
 * contain no secret and no path, and change nothing. Each request has a virtual thread, so that
 * none waits for another. {@link NodeDaemon} opens and closes it.
 */
final class NodePages implements AutoCloseable {
  private static final String METHODS = "GET, HEAD";

  /** A page's status, type and text. */
  private record Page(int status, String type, String text) {
    static Page plain(int status, String text) {
      return new Page(status, "text/plain", text + "\n");
    }
  }

  private final HttpServer server;
  private final BooleanSupplier draining;
  private final ExecutorService threads = DaemonThreads.forBlocking("sluice-page-");
  private final Supplier<Collection<ServedApplication>> applications;
  private final Map<String, Supplier<Page>> pages =
      Map.of(
          "/",
          () -> new Page(200, "text/html", page()),
          "/metrics",
          () -> new Page(200, "text/plain; version=0.0.4", metrics()),
          "/healthz",
          this::health,
          "/readyz",
          this::readiness);

  /**
   * Listens at once.
   *
   * @throws IOException when the address cannot be bound
   */
  NodePages(
      InetSocketAddress address,
      Supplier<Collection<ServedApplication>> applications,
      BooleanSupplier draining)
      throws IOException {
    this.applications = applications;
    this.draining = draining;
    requireFree(address);
    server = HttpServer.create(address, 0);
    server.createContext("/", this::answer);
    server.setExecutor(threads);
    server.start();
  }

  /**
   * Binds the address for a moment. Where that fails, the JDK's server would leave a socket open.
   */
  private static void requireFree(InetSocketAddress address) throws IOException {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(address);
    }
  }

  /** Health: the process is alive, also while it is drained. A restart would not help. */
  private Page health() {
    return Page.plain(200, draining.getAsBoolean() ? "draining" : "ok");
  }

  /** Readiness: the node lets new executors in. */
  private Page readiness() {
    return draining.getAsBoolean() ? Page.plain(503, "draining") : Page.plain(200, "ok");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      Supplier<Page> known = pages.get(exchange.getRequestURI().getPath());
      if (known == null) {
        send(exchange, isHead, Page.plain(404, "This page does not exist."));
      } else if (isHead || exchange.getRequestMethod().equals("GET")) {
        send(exchange, isHead, known.get());
      } else {
        exchange.getResponseHeaders().set("Allow", METHODS);
        send(exchange, false, Page.plain(405, "Allowed methods: " + METHODS + "."));
      }
    }
  }

  private static void send(HttpExchange exchange, boolean isHead, Page page) throws IOException {
    byte[] body = page.text().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", page.type() + "; charset=utf-8");
    if (isHead) { // The JDK logs a warning if the length is passed to it.
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(page.status(), -1);
    } else {
      exchange.sendResponseHeaders(page.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Metrics in the text format of Prometheus. Application names need no escapes. */
  private String metrics() {
    Collection<ServedApplication> all = List.copyOf(applications.get());
    StringBuilder text = new StringBuilder();
    text.append("# HELP sluice_node_build_info 1, with the versions of Sluice and Java.\n");
    text.append("# TYPE sluice_node_build_info gauge\n");
    text.append(
        "sluice_node_build_info{version=\"%s\",java=\"%s\"} 1%n"
            .formatted(NodeMain.buildVersion().orElse("unknown"), Runtime.version()));
    text.append("# HELP sluice_node_applications Applications that the daemon serves.\n");
    text.append("# TYPE sluice_node_applications gauge\n");
    text.append("sluice_node_applications %d%n".formatted(all.size()));
    text.append("# HELP sluice_node_draining 1 while the daemon is draining, otherwise 0.\n");
    text.append("# TYPE sluice_node_draining gauge\n");
    text.append("sluice_node_draining %d%n".formatted(draining.getAsBoolean() ? 1 : 0));
    for (NodeMetric metric : NodeMetric.values()) {
      String name = metric.prometheusName();
      text.append("# HELP %s %s%n".formatted(name, metric.documentation()));
      text.append("# TYPE %s %s%n".formatted(name, metric.prometheusType()));
      for (ServedApplication application : all) {
        text.append(
            "%s{application=\"%s\"} %d%n"
                .formatted(name, application.name(), metric.of(application)));
      }
    }
    return text.toString();
  }

  private String page() {
    StringBuilder html = new StringBuilder("<!DOCTYPE html><title>Sluice</title>");
    html.append("<h1>Node daemon</h1>");
    html.append("<p>%s</p>".formatted(NodeMain.version()));
    html.append("<table border><tr><th>application<th>device");
    for (NodeMetric metric : NodeMetric.values()) {
      html.append("<th title=\"%s\">%s".formatted(metric.documentation(), metric.title()));
    }
    for (ServedApplication application : applications.get()) {
      html.append("<tr><td>%s<td>%s".formatted(application.name(), application.device()));
      for (NodeMetric metric : NodeMetric.values()) {
        html.append("<td align=right>%,d".formatted(metric.of(application)));
      }
    }
    return html.append("</table>\n").toString();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
