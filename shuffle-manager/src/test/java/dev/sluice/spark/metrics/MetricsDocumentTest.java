// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.CounterDescription;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Writes docs/metrics.md from the counters' descriptions, and fails when it is stale. */
class MetricsDocumentTest {
  private static final Path DOCUMENT =
      Path.of(System.getProperty("sluice.basedir", "."), "..", "docs", "metrics.md");

  private static final String HEAD =
      """
      # Metrics

      Generated from `TransferCounter`, `RegistryCounter` and `ShuffleCounter`; do not edit.

      ## Where they show

      | Where | What | Name of `read.bytes` there |
      | --- | --- | --- |
      | Sinks of an executor (`executor.sink.*` in `metrics.properties`: CSV, JMX, StatsD, Graphite and others) | counters of that executor | `<namespace>.<executor>.sluice.read.bytes` |
      | Sinks of the driver (`driver.sink.*`) | sums over all executors | `<namespace>.driver.sluice.application.read.bytes` |
      | `http://<driver>:4040/metrics/json/` (on by default) | sums over all executors | `<namespace>.driver.sluice.application.read.bytes` |
      | `http://<driver>:4040/metrics/prometheus/`, with the sink below | sums over all executors | `metrics_<namespace>_driver_sluice_application_read_bytes_Value{type="gauges"}` |
      | The driver's log when the application ends | sums that are not zero | `read.bytes` |
      | Each executor's log, when its tasks have ceased | counters of that executor that are not zero | `read.bytes` |

      `<namespace>` is `spark.metrics.namespace`, or the application's id. In the Prometheus page every
      character that is neither a letter nor a digit is an underscore.

      Spark has no HTTP server in executors, so an executor's own counters have no page: a sink has to
      carry them away, for instance JMX with the JMX exporter of Prometheus. Spark's page
      `/metrics/executors/prometheus/` has Spark's own values of each executor, and no counters of
      sources such as Sluice. For the sums in Prometheus add this sink:

      ```
      spark.metrics.conf.*.sink.prometheusServlet.class  org.apache.spark.metrics.sink.PrometheusServlet
      spark.metrics.conf.*.sink.prometheusServlet.path   /metrics/prometheus
      ```

      `conf/prometheus` has a scrape configuration, which makes the application and the reason of a fallback
      labels, and alert rules. `conf/grafana/sluice.json` is a dashboard. Both have the names
      `sluice_application_read_bytes` and so on.

      The driver's source `sluice.application` is there from the application's first shuffle on. An
      executor reports 200 ms after its last task has ended, and every 10 s while tasks go on. A total
      starts at 0 and only grows; the driver keeps the totals of executors that are gone. A level is a
      state now; the driver sums it over the executors that live, as they reported it last. All are
      gauges to Spark, totals as well.

      Each source also has `version`, the version and commit of Sluice as a text, which Prometheus,
      Graphite and StatsD leave out. The driver's `other-versions` is the number of live executors and node daemons
      that run another version than the driver; the driver's log names the first of each.

      In local mode one process has both sources.

      ## Counters
      """;

  private static final String LATENCY =
      """

      ### READ latency

      The sources have histograms in microseconds, of all READs since the start. A READ is a request of
      one task to one peer: a batch of ranges, of up to `spark.shuffle.rdma.read.maxBytes`. It takes from
      the post of its first work request to the completion of its last one. A READ that misses its
      deadline counts with the time until then; other failed READs do not count. The values are off by
      an eighth at most.

      | Name | Source | READs |
      | --- | --- | --- |
      | `read-latency-micros` | driver | of all executors, gone ones included, as they reported them last |
      | `read-latency-micros` | executor | from all peers |
      | `read-latency-micros.ID-HOST` | executor | from one peer, an executor or a node daemon; of %d peers at most |

      In the driver's Prometheus page the median is
      `metrics_<namespace>_driver_sluice_application_read_latency_micros_50thPercentile{type="histograms"}`;
      `_99thPercentile`, `_Count` and so on are there, too.

      Characters of ID and HOST other than letters, digits and hyphens are underscores. A peer appears
      within five seconds. Some minutes after its last READ it goes, and another one takes its place.
      """
          .formatted(LatencyMetrics.MAX_PEERS);

  private static final String BLOCK_SERVER =
      """

      ## The node daemon

      `bin/sluice-node` counts by itself: its page `/metrics` has `sluice_node_*`, `jvm_*` and `process_*`,
      each with its meaning as HELP ([node-daemon.md](node-daemon.md), Operation). A counter of the tables
      above has its name and meaning there, for each application that the daemon serves. For instance
      `registry.registered-bytes` is `sluice_node_application_registry_registered_bytes`, and
      `sluice_application_registry_registered_bytes` for executors. A total also ends in `_total` there, as
      OpenMetrics demands. `/api/v1` has the names without `sluice_node_application_` and `_total`.
      """;

  /** {@code mvn test -Dtest=MetricsDocumentTest -Dsluice.docs.write=true} writes it. */
  @Test
  void theDocumentIsThatOfTheCounters() throws IOException {
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(DOCUMENT, text());
    }
    assertThat(DOCUMENT).hasContent(text());
  }

  /** The table is the one to which docs/metrics.md points. */
  @Test
  void everyReasonOfAFallbackIsExplained() throws IOException {
    String troubleshooting = Files.readString(DOCUMENT.resolveSibling("troubleshooting.md"));
    for (FallbackReason reason : FallbackReason.values()) {
      assertThat(troubleshooting).contains("\n| `" + reason + "` | ");
    }
  }

  @Test
  void everyMeaningIsASentence() {
    assertThat(ExecutorMetrics.descriptions().values())
        .extracting(CounterDescription::meaning)
        .allMatch(meaning -> meaning.matches("[A-Z].*\\."));
  }

  private static String text() {
    StringBuilder out = new StringBuilder(HEAD);
    part(out, "Blocks and bytes by path", "");
    part(out, "READs of the endpoint", "transfer.");
    out.append(LATENCY);
    part(out, "Map outputs that this executor serves", "registry.");
    return out.append(BLOCK_SERVER).toString();
  }

  private static void part(StringBuilder out, String title, String prefix) {
    out.append("\n### ").append(title).append("\n\n");
    if (prefix.isEmpty()) {
      out.append(
          "The reasons of `fallback.*` are in [troubleshooting.md](troubleshooting.md), Fallback is"
              + " not zero.\n\n");
    }
    out.append("| Name | Kind | Unit | Meaning |\n| --- | --- | --- | --- |\n");
    for (Map.Entry<String, CounterDescription> counter :
        ExecutorMetrics.descriptions().entrySet()) {
      if (prefix(counter.getKey()).equals(prefix)) {
        out.append(row(counter.getKey(), counter.getValue()));
      }
    }
  }

  private static String prefix(String name) {
    return name.matches("(transfer|registry)\\..*") ? name.replaceFirst("\\..*", ".") : "";
  }

  private static String row(String name, CounterDescription counter) {
    return "| `%s` | %s | %s | %s |\n"
        .formatted(name, counter.isLevel() ? "level" : "total", counter.unit(), counter.meaning());
  }
}
