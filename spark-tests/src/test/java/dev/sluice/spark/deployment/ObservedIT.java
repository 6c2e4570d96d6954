// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.spark.deployment.Observations.Sink;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Spark's ways to watch an application, with Sluice and with the stock shuffle: sinks of metrics,
 * structured logs, and event logs that a history server replays without the drop-in jar. Sluice
 * adds its own names and changes nothing else.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ObservedIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final List<String> EXECUTORS = List.of("0", "1");
  private static final Pattern SLUICES =
      Pattern.compile(
          "\\b(metrics_)?" + Observations.NAMESPACE + "[._](driver|\\d+)[._]sluice[._]");

  /** A line in the form of Spark's first lines, before an executor has its configuration. */
  private static final Pattern SLUICES_PLAIN_LINE =
      Pattern.compile("\\d\\d/\\d\\d/\\d\\d .*(Sluice|Shuffle blocks|RDMA).*");

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Deployment deployment = Deployment.start("observed");
  private final Path eventLogs = deployment.directory("event-logs");
  private CompletableFuture<TreeSet<String>> received;
  private Result sluice;
  private Result stock;

  ObservedIT() throws IOException, InterruptedException {}

  @BeforeAll
  void runBoth() throws Exception {
    try (DatagramSocket statsd = Observations.receiver()) {
      received = receiving(statsd);
      sluice = run("sluice", Observations.statsd(statsd));
      assertThat(received).succeedsWithin(TIMEOUT);
    }
    stock = run("stock", Map.of("spark.shuffle.manager", "sort"));
  }

  @AfterAll
  void stop() {
    deployment.close();
  }

  private Result run(String name, Map<String, String> more) throws Exception {
    Map<String, String> settings =
        new HashMap<>(Observations.settings(deployment.directory("csv-" + name)));
    settings.put("spark.log.structuredLogging.enabled", "true");
    settings.put("spark.eventLog.enabled", "true");
    settings.put("spark.eventLog.dir", eventLogs.toUri().toString());
    settings.putAll(more);
    Result result = deployment.submitWithJars(name, settings, ShuffleApplication.OBSERVED);
    assertThat(result.exitCode()).as(result.end()).isZero();
    assertThat(result.rounds()).hasSize(1).allMatch(Round::right);
    return result;
  }

  private static CompletableFuture<TreeSet<String>> receiving(DatagramSocket statsd) {
    CompletableFuture<TreeSet<String>> received = new CompletableFuture<>();
    Thread.startVirtualThread(
        () -> {
          try {
            received.complete(Observations.received(statsd));
          } catch (IOException e) {
            received.completeExceptionally(e);
          }
        });
    return received;
  }

  @Test
  void sluiceReadsAllBlocksAndStockDoesNotKnowIt() {
    assertThat(sluice.rounds().getFirst().totals().read()).isPositive();
    assertThat(sluice.rounds().getFirst().totals().fallbackByReason()).isEmpty();
    assertThat(stock.rounds().getFirst().totals().counters()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void sinksHaveTheNamesOfTheStockShuffleAndSluicesOwn(Sink sink) {
    TreeSet<String> names = Observations.names(sink, sluice.log());
    TreeSet<String> stockNames = Observations.names(sink, stock.log());
    assertThat(stockNames).isNotEmpty().noneMatch(ObservedIT::isSluices);
    assertThat(names).containsAll(stockNames);
    names.removeAll(stockNames);
    assertThat(names).anyMatch(ObservedIT::isSluices).allMatch(name -> name.contains("sluice"));
  }

  /**
   * Tells whether it is a metric of Sluice. Spark names its own timers after Sluice's listeners.
   */
  private static boolean isSluices(String name) {
    return SLUICES.matcher(name).find();
  }

  @Test
  void eachExecutorsMetricsAreInEachSink() {
    assertThat(received.join()).containsExactlyElementsOf(EXECUTORS);
    for (String executor : EXECUTORS) {
      String name = Observations.NAMESPACE + "." + executor + ".sluice.read.bytes";
      assertThat(Observations.names(Sink.CSV, sluice.log())).contains(name + ".csv");
      assertThat(Observations.names(Sink.JMX, sluice.log()))
          .contains("metrics:name=" + name + ",type=gauges");
    }
  }

  @Test
  void structuredLogsHaveTheFormOfTheStockShuffles() throws Exception {
    String executors = deployment.work().logs(applicationId(sluice));
    String stockExecutors = deployment.work().logs(applicationId(stock));
    TreeSet<String> fields = new TreeSet<>();
    for (JsonNode line : structured(stockExecutors + stock.log())) {
      line.fieldNames().forEachRemaining(fields::add);
    }
    List<JsonNode> lines = structured(executors + sluice.log());
    assertThat(lines).allSatisfy(line -> assertThat(fields).containsAll(() -> line.fieldNames()));
    assertThat(lines)
        .extracting(line -> line.get("msg").asText())
        .anyMatch(message -> message.startsWith("Shuffle blocks are READ by provider"))
        .anyMatch(message -> message.startsWith("Shuffle blocks of the application"));
    assertThat(executors.lines()).noneMatch(line -> SLUICES_PLAIN_LINE.matcher(line).matches());
  }

  private static List<JsonNode> structured(String log) throws JsonProcessingException {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : log.lines().filter(ObservedIT::isStructured).toList()) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }

  /** The last line of an executor's log may be cut: its Worker kills it. */
  private static boolean isStructured(String line) {
    return line.startsWith("{\"ts\":") && line.endsWith("}");
  }

  /** Spark's own line of it has other quotes. */
  private static String applicationId(Result result) {
    var id = Pattern.compile("app-\\d+-\\d+").matcher(result.log());
    assertThat(id.find()).as(result.end()).isTrue();
    return id.group();
  }

  @Test
  void aHistoryServerWithoutTheJarReplaysBothApplications() throws Exception {
    URI history = deployment.startHistoryServer(eventLogs);
    List<String> stages = stages(history, applicationId(sluice));
    assertThat(stages).isEqualTo(stages(history, applicationId(stock)));
    assertThat(stages).anyMatch(stage -> stage.matches(".* reads [1-9]\\d* records .*"));
  }

  /** Asks for the completed stages until the application is replayed. */
  private static List<String> stages(URI history, String application) throws Exception {
    URI stages = history.resolve("/api/v1/applications/" + application + "/stages?status=complete");
    HttpRequest request = HttpRequest.newBuilder(stages).timeout(TIMEOUT).build();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer;
      do {
        TimeUnit.MILLISECONDS.sleep(200);
        answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      } while (answer.statusCode() != 200 && System.nanoTime() - deadline < 0);
      List<String> replayed = new ArrayList<>();
      for (JsonNode stage : JSON.readTree(answer.body())) {
        replayed.add(
            "stage %s of %s tasks reads %s records and writes %s"
                .formatted(
                    stage.get("stageId"),
                    stage.get("numCompleteTasks"),
                    stage.get("shuffleReadRecords"),
                    stage.get("shuffleWriteRecords")));
      }
      return replayed;
    }
  }
}
