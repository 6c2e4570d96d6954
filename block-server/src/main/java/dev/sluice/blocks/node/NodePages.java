package dev.sluice.blocks.node;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What a node says of itself over HTTP, to whoever asks: no secret, no path, and nothing can be
 * changed. A virtual thread for each that asks, so that nobody waits for another.
 */
final class NodePages implements AutoCloseable {
  private final HttpServer server;
  private final BooleanSupplier draining;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Supplier<Collection<NodeApplication>> applications;

  /** Listens at once. */
  NodePages(
      InetSocketAddress address,
      Supplier<Collection<NodeApplication>> applications,
      BooleanSupplier draining)
      throws IOException {
    this.applications = applications;
    this.draining = draining;
    server = listen(address);
    server.createContext(
        "/metrics", exchange -> answer(exchange, "text/plain; version=0.0.4", metrics()));
    server.createContext("/healthz", exchange -> answer(exchange, "text/plain", health()));
    server.createContext("/", this::page);
    server.setExecutor(threads);
    server.start();
  }

  /** Alive in any case. */
  private String health() {
    return draining.getAsBoolean() ? "draining\n" : "ok\n";
  }

  private static HttpServer listen(InetSocketAddress address) throws IOException {
    try {
      return HttpServer.create(address, 0);
    } catch (IOException e) {
      throw new IOException(
          "%s at %s: %s".formatted(NodeSetting.HTTP.key(), address, e.getMessage()), e);
    }
  }

  private void page(HttpExchange exchange) throws IOException {
    if (exchange.getRequestURI().getPath().equals("/")) {
      answer(exchange, "text/html", page());
    } else {
      exchange.sendResponseHeaders(404, -1);
      exchange.close();
    }
  }

  private static void answer(HttpExchange exchange, String type, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
    exchange.sendResponseHeaders(200, body.length);
    try (exchange) {
      exchange.getResponseBody().write(body);
    }
  }

  /** In the text format of Prometheus; names of applications need no escapes. */
  private String metrics() {
    Collection<NodeApplication> all = List.copyOf(applications.get());
    StringBuilder text = new StringBuilder();
    text.append("# HELP sluice_node_applications Applications that are served.\n");
    text.append("# TYPE sluice_node_applications gauge\n");
    text.append("sluice_node_applications %d%n".formatted(all.size()));
    text.append("# HELP sluice_node_draining Whether nothing more is taken: 1, or 0.\n");
    text.append("# TYPE sluice_node_draining gauge\n");
    text.append("sluice_node_draining %d%n".formatted(draining.getAsBoolean() ? 1 : 0));
    for (NodeMetric metric : NodeMetric.values()) {
      String name = metric.prometheusName();
      text.append("# HELP %s %s%n".formatted(name, metric.documentation()));
      text.append("# TYPE %s %s%n".formatted(name, metric.prometheusType()));
      for (NodeApplication application : all) {
        text.append(
            "%s{application=\"%s\"} %d%n"
                .formatted(name, application.name(), metric.of(application)));
      }
    }
    return text.toString();
  }

  private String page() {
    StringBuilder html = new StringBuilder("<!DOCTYPE html><title>Sluice</title>");
    html.append("<h1>The node's block server</h1><table border><tr><th>application<th>device");
    for (NodeMetric metric : NodeMetric.values()) {
      html.append("<th title=\"%s\">%s".formatted(metric.documentation(), metric.title()));
    }
    for (NodeApplication application : applications.get()) {
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
