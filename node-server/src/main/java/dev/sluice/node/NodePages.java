// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the node's pages over HTTP to any client: metrics, probes, the state as JSON, and a page
 * for people. They contain no secret and no path, and change nothing. Each request has a virtual
 * thread, so that none waits for another. {@link NodeDaemon} opens and closes it.
 */
final class NodePages implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodePages.class);
  private static final String METHODS = "GET, HEAD";

  /**
   * Longest time to receive a request, and to send an answer, in seconds. The JDK's documentation
   * says milliseconds, but its server multiplies them by 1,000 ({@code ServerImpl.getTimeMillis},
   * JDK 25).
   */
  private static final String REQUEST_SECONDS = "10";

  private static final String ANSWER_SECONDS = "60";

  /** Most connections at a time. */
  private static final String CONNECTIONS = "1000";

  /**
   * A page.
   *
   * @param type media type with its parameters
   */
  private record Page(int status, String type, byte[] body) {
    static Page of(int status, String type, String text) {
      return new Page(status, type + "; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    static Page plain(int status, String text) {
      return of(status, "text/plain", text + "\n");
    }
  }

  private final HttpServer server;
  private final BooleanSupplier draining;
  private final ExecutorService threads = DaemonThreads.blocking();
  private final Supplier<Collection<ServedApplication>> applications;
  private final Supplier<Map<String, String>> unbound;
  private final NodeMetrics metrics;

  /** Pages by their paths. Each gets the request's headers. */
  private final Map<String, Function<Headers, Page>> pages =
      Map.of(
          "/",
          _ -> Page.of(200, "text/html", StatusPage.html(status())),
          "/api/v1",
          _ -> Page.of(200, "application/json", status().json()),
          "/metrics",
          this::metrics,
          "/healthz",
          _ -> health(),
          "/readyz",
          _ -> readiness());

  /**
   * Limits the number and time of connections to this process's servers, unless its command line
   * does. Otherwise clients that send half a request would take the descriptors that serving blocks
   * needs. Takes effect only before the first server is made.
   */
  static void limitConnections() {
    Properties properties = System.getProperties();
    properties.putIfAbsent("sun.net.httpserver.maxReqTime", REQUEST_SECONDS);
    properties.putIfAbsent("sun.net.httpserver.maxRspTime", ANSWER_SECONDS);
    properties.putIfAbsent("jdk.httpserver.maxConnections", CONNECTIONS);
  }

  /**
   * Listens at once.
   *
   * @param unbound reasons why other addresses are not bound, by their settings
   * @throws IOException when the address cannot be bound
   */
  NodePages(
      InetSocketAddress address,
      Supplier<Collection<ServedApplication>> applications,
      BooleanSupplier draining,
      Supplier<Map<String, String>> unbound)
      throws IOException {
    this.applications = applications;
    this.draining = draining;
    this.unbound = unbound;
    metrics = new NodeMetrics(applications, draining, () -> unbound.get().size());
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

  /**
   * Readiness: the node lets new executors of Spark in. A node that only lacks its port for
   * MapReduce is ready, since a probe would otherwise take it from Spark, too.
   */
  private Page readiness() {
    return draining.getAsBoolean() ? Page.plain(503, "draining") : Page.plain(200, "ok");
  }

  private NodeStatus status() {
    return NodeStatus.of(applications.get(), draining.getAsBoolean(), unbound.get());
  }

  private Page metrics(Headers request) {
    NodeMetrics.Text text = metrics.text(request.getFirst("Accept"));
    return new Page(200, text.type(), text.bytes());
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      Function<Headers, Page> known = pages.get(exchange.getRequestURI().getPath());
      if (known == null) {
        send(exchange, isHead, Page.plain(404, "This page does not exist."));
      } else if (isHead || exchange.getRequestMethod().equals("GET")) {
        send(exchange, isHead, page(exchange, known));
      } else {
        exchange.getResponseHeaders().set("Allow", METHODS);
        send(exchange, false, Page.plain(405, "Allowed methods: " + METHODS + "."));
      }
    }
  }

  /**
   * Returns the page, or one that says that it cannot be made: the JDK's server would be silent.
   */
  private static Page page(HttpExchange exchange, Function<Headers, Page> known) {
    try {
      return known.apply(exchange.getRequestHeaders());
    } catch (RuntimeException e) {
      LOG.warn("Making the page {} failed", exchange.getRequestURI(), e);
      return Page.plain(500, "Making this page failed. The daemon's log has the reason.");
    }
  }

  private static void send(HttpExchange exchange, boolean isHead, Page page) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", page.type());
    if (isHead) { // The JDK logs a warning if the length is passed to it.
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(page.body().length));
      exchange.sendResponseHeaders(page.status(), -1);
    } else {
      exchange.sendResponseHeaders(page.status(), page.body().length);
      exchange.getResponseBody().write(page.body());
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
