// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.spark.cluster.UnusedPort;
import java.io.IOException;
import java.lang.ref.Reference;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The dashboard and the alert rules of conf/, with a real Prometheus that scrapes an application
 * and a node daemon.
 */
final class PrometheusIT {
  private static final Path PROMETHEUS = Path.of("/usr/bin/prometheus");
  private static final Path CONF =
      Path.of(System.getProperty("sluice.jar")).resolveSibling("../../conf");
  private static final String SINK = "spark.metrics.conf.*.sink.prometheusServlet.";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.+), (\\w+)\\)");
  private static final Pattern METRIC = Pattern.compile("sluice_\\w+");
  private static final int PARTITIONS = 8;

  @TempDir private Path directory;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private int port;
  private int daemonPort;

  @BeforeEach
  void choosePorts() throws Exception {
    assumeTrue(Files.isExecutable(PROMETHEUS), PROMETHEUS + " is not installed");
    port = UnusedPort.find();
    daemonPort = UnusedPort.find();
  }

  @Test
  void everyPanelHasDataAndEveryRuleIsEvaluated() throws Exception {
    try (NodeProcess _ =
            NodeProcess.in(directory).set("sluice.node.http", "127.0.0.1:" + daemonPort).start();
        LocalCluster cluster = startCluster()) {
      Process prometheus = startPrometheus(cluster.context().sc().uiWebUrl().get());
      try {
        JavaPairRDD<Integer, byte[]> shuffled =
            KnownShuffle.SMALL.repartitioned(cluster.context(), PARTITIONS);
        assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());
        List<String> queries = queries();
        assertThat(queries)
            .hasSizeGreaterThan(19)
            .anyMatch(query -> query.contains("read_latency_micros_99thPercentile"))
            .anyMatch(query -> query.contains("transfer_slow_peers"))
            .anyMatch(query -> query.contains("hedge_batches"));
        long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
        List<String> empty = withoutData(queries);
        while (!empty.isEmpty() && System.nanoTime() - deadlineNanos < 0) {
          TimeUnit.MILLISECONDS.sleep(500);
          empty = withoutData(queries);
        }
        assertThat(empty).as("queries without data").isEmpty();
        assertVariablesHaveValues();
        assertCountersOfDaemonsHaveTheNamesOfApplications();
        awaitValue("sum(sluice_application_read_bytes)", cluster.totals().readBytes());
        awaitValue("min(sluice_application_read_latency_micros_Count > bool 0)", 1);
        long taken = cluster.totals().of("node.taken"); // less if the disk was slow at the start
        assertThat(taken).isPositive();
        awaitValue("sum(sluice_node_application_map_outputs)", taken);
        assertRulesAreEvaluated();
        Reference.reachabilityFence(shuffled); // Spark removes map outputs of an RDD that is gone.
      } finally {
        prometheus.destroy();
        prometheus.waitFor();
      }
    }
  }

  private LocalCluster startCluster() {
    return LocalCluster.start(
        "spark.shuffle.rdma.node",
        "on",
        "spark.shuffle.rdma.node.socket",
        NodeProcess.socket(directory).toString(),
        "spark.local.dir",
        directory.resolve("local").toString(),
        "spark.ui.enabled",
        "true",
        "spark.ui.port",
        "0",
        SINK + "class",
        "org.apache.spark.metrics.sink.PrometheusServlet",
        SINK + "path",
        "/metrics/prometheus");
  }

  /** Starts Prometheus with the template of conf/, which scrapes each second. */
  private Process startPrometheus(String ui) throws IOException {
    String scrape =
        Files.readString(CONF.resolve("prometheus/prometheus.yml.template"))
            .replace("driver.example.com:4040", URI.create(ui).getAuthority())
            .replace("node1.example.com:7338, node2.example.com:7338", "127.0.0.1:" + daemonPort)
            .replace("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s");
    Path file = Files.writeString(directory.resolve("prometheus.yml"), scrape);
    Files.copy(CONF.resolve("prometheus/sluice.rules.yml"), directory.resolve("sluice.rules.yml"));
    return new ProcessBuilder(
            PROMETHEUS.toString(),
            "--config.file=" + file,
            "--storage.tsdb.path=" + directory.resolve("prometheus"),
            "--web.listen-address=127.0.0.1:" + port)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("prometheus.log").toFile())
        .start();
  }

  /** Queries of all panels, with values for the dashboard's variables. */
  private List<String> queries() throws IOException {
    List<String> queries = new ArrayList<>();
    JsonNode dashboard = json.readTree(CONF.resolve("grafana/sluice.json").toFile());
    for (JsonNode panel : dashboard.get("panels")) {
      for (JsonNode target : panel.path("targets")) {
        queries.add(
            target
                .get("expr")
                .textValue()
                .replace("$__rate_interval", "10s")
                .replaceAll("\\$(application|node)", ".+"));
      }
    }
    return queries;
  }

  /** Asks for the values as Grafana does. */
  private void assertVariablesHaveValues() throws Exception {
    JsonNode dashboard = json.readTree(CONF.resolve("grafana/sluice.json").toFile());
    List<String> asked = new ArrayList<>();
    for (JsonNode variable : dashboard.get("templating").get("list")) {
      Matcher query = LABEL_VALUES.matcher(variable.get("query").textValue());
      if (query.matches()) {
        asked.add(variable.get("name").textValue());
        assertThat(values(query.group(2), query.group(1))).as("%s", variable).isNotEmpty();
      }
    }
    assertThat(asked).containsExactlyInAnyOrder("application", "node");
  }

  private void assertCountersOfDaemonsHaveTheNamesOfApplications() throws Exception {
    List<String> ofApplications = values("__name__", "{__name__=~\"sluice_application_.+\"}");
    List<String> ofDaemons =
        values("__name__", "{__name__=~\"sluice_node_application_(registry|transfer)_.+\"}");
    assertThat(ofDaemons)
        .isNotEmpty()
        .allSatisfy(
            name ->
                assertThat(ofApplications)
                    .contains(name.replaceFirst("_node", "").replaceFirst("_total$", "")));
  }

  /** Returns the values of a label of the selected series. */
  private List<String> values(String label, String selector) throws Exception {
    List<String> values = new ArrayList<>();
    get("label/" + label + "/values?match%5B%5D=" + encoded(selector))
        .forEach(value -> values.add(value.textValue()));
    return values;
  }

  private List<String> withoutData(List<String> queries) throws Exception {
    List<String> empty = new ArrayList<>();
    for (String query : queries) {
      if (get("query?query=" + encoded(query)).path("result").isEmpty()) {
        empty.add(query);
      }
    }
    return empty;
  }

  /** Waits for a scrape that has the value. */
  private void awaitValue(String query, long value) throws Exception {
    long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
    while (value(query) != value) {
      assertThat(System.nanoTime() - deadlineNanos)
          .as("%s is %s and not %s", query, value(query), value)
          .isNegative();
      TimeUnit.MILLISECONDS.sleep(500);
    }
  }

  private long value(String query) throws Exception {
    JsonNode result = get("query?query=" + encoded(query)).path("result");
    assertThat(result).as(query).hasSize(1);
    return (long) Double.parseDouble(result.get(0).get("value").get(1).textValue());
  }

  /** A rule with a wrong name is evaluated, too, and never fires. */
  private void assertRulesAreEvaluated() throws Exception {
    List<String> known = values("__name__", "{__name__=~\"sluice_.+\"}");
    JsonNode rules = get("rules").get("groups").get(0).get("rules");
    assertThat(rules).hasSizeGreaterThan(5);
    for (JsonNode rule : rules) {
      assertThat(METRIC.matcher(rule.get("query").textValue()).results().map(MatchResult::group))
          .as("%s", rule.get("name"))
          .isSubsetOf(known);
      assertThat(rule.get("health").textValue())
          .as("%s %s", rule.get("name"), rule.path("lastError"))
          .isEqualTo("ok");
      assertThat(rule.get("state").textValue()).as("%s", rule.get("name")).isEqualTo("inactive");
    }
  }

  private static String encoded(String query) {
    return URLEncoder.encode(query, StandardCharsets.UTF_8);
  }

  /** Asks Prometheus; returns nothing as long as it starts. */
  private JsonNode get(String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/api/v1/%s".formatted(port, path)))
            .timeout(TIMEOUT)
            .build();
    try {
      JsonNode answer = json.readTree(http.send(request, BodyHandlers.ofString()).body());
      assertThat(answer.path("status").textValue()).as("%s: %s", path, answer).isEqualTo("success");
      return answer.get("data");
    } catch (java.net.ConnectException e) {
      return json.createObjectNode();
    }
  }
}
