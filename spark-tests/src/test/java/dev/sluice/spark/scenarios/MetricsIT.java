// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.apache.spark.api.java.JavaPairRDD;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** Counters in Spark's own metrics: the pages of the driver's UI, and sinks. */
final class MetricsIT {
  private static final int PARTITIONS = 4;
  private static final String CONF = "spark.metrics.conf.*.sink.";
  private static final String NAMESPACE = "my-team.etl";
  private static final String LATENCY =
      "\nmetrics_my_team_etl_driver_sluice_application_read_latency_micros_";
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** The text format of Prometheus: a name, labels and a number. */
  private static final Pattern SAMPLE =
      Pattern.compile(
          "[a-zA-Z_:][a-zA-Z0-9_:]*\\{([a-zA-Z_][a-zA-Z0-9_]*=\"[^\"]*\",?\\s*)*\\} \\S+");

  /** Not a {@code @TempDir}: a sink may write while that is being deleted. */
  private final Path csv;

  MetricsIT() throws IOException {
    csv = Files.createTempDirectory(Path.of(System.getProperty("sluice.target")), "metrics-");
  }

  @Test
  void sparksPagesHaveTheSumsOfTheApplication() throws Exception {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.ui.enabled",
            "true",
            "spark.ui.port",
            "0",
            "spark.metrics.namespace",
            NAMESPACE,
            CONF + "prometheusServlet.class",
            "org.apache.spark.metrics.sink.PrometheusServlet",
            CONF + "prometheusServlet.path",
            "/metrics/prometheus",
            CONF + "jmx.class",
            "org.apache.spark.metrics.sink.JmxSink",
            CONF + "csv.class",
            "org.apache.spark.metrics.sink.CsvSink",
            CONF + "csv.period",
            "1",
            CONF + "csv.directory",
            csv.toString())) {
      JavaPairRDD<Integer, byte[]> shuffled =
          KnownShuffle.SMALL.repartitioned(cluster.context(), PARTITIONS);
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());
      Totals totals = cluster.totals();
      assertThat(totals.readBytes()).isPositive();
      String ui = cluster.context().sc().uiWebUrl().get();

      String prometheus = get(ui + "/metrics/prometheus/");
      assertThat(gauge(prometheus, "read_bytes")).isEqualTo(totals.readBytes());
      assertThat(gauge(prometheus, "fallback_blocks_CONNECT")).isZero();
      assertThat(prometheus)
          .containsPattern(LATENCY + "Count\\{type=\"histograms\"\\} [1-9]")
          .containsPattern(LATENCY + "50thPercentile\\{type=\"histograms\"\\} [1-9]")
          .containsPattern(LATENCY + "99thPercentile\\{type=\"histograms\"\\} [1-9]");
      ObjectName latency =
          new ObjectName(
              "metrics:type=histograms,name="
                  + NAMESPACE
                  + ".driver.sluice.application.read-latency-micros");
      assertThat(ManagementFactory.getPlatformMBeanServer().getAttribute(latency, "Count"))
          .asInstanceOf(InstanceOfAssertFactories.LONG)
          .isPositive();
      // Partition tables are READ, too.
      assertThat(gauge(prometheus, "transfer_read_bytes"))
          .isGreaterThanOrEqualTo(totals.readBytes());
      assertThat(prometheus.lines().filter(line -> line.contains("_sluice_")))
          .isNotEmpty()
          .allMatch(line -> SAMPLE.matcher(line).matches())
          .doesNotHaveDuplicates();

      String json = get(ui + "/metrics/json/");
      assertThat(json)
          .contains("\"" + NAMESPACE + ".driver.sluice.application.read.bytes\":{\"value\":")
          .contains(
              "\"" + NAMESPACE + ".driver.sluice.application.read-latency-micros\":{\"count\":");
      assertThat(get(ui + "/metrics/executors/prometheus/"))
          .contains("metrics_executor_")
          .doesNotContain("sluice");
      for (String executor : new String[] {"0", "1"}) {
        Path counter = csv.resolve(NAMESPACE + "." + executor + ".sluice.read.bytes.csv");
        LocalCluster.await("a sink of executor " + executor, () -> Files.exists(counter));
        String reads = NAMESPACE + "." + executor + ".sluice.read-latency-micros.";
        LocalCluster.await(
            "latency of READs of executor " + executor + " from the other one",
            () -> isThere(reads));
      }
    }
  }

  private boolean isThere(String prefix) {
    String[] files = csv.toFile().list((_, name) -> name.startsWith(prefix));
    return files.length > 0;
  }

  private static long gauge(String page, String counter) {
    Matcher value =
        Pattern.compile(
                "(?m)^metrics_my_team_etl_driver_sluice_application_"
                    + counter
                    + "_Value\\{type=\"gauges\"\\} (\\d+)$")
            .matcher(page);
    assertThat(value.find()).as("%s in %s", counter, page).isTrue();
    return Long.parseLong(value.group(1));
  }

  private static String get(String page) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(URI.create(page)).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(page).isEqualTo(200);
      return answer.body();
    }
  }
}
