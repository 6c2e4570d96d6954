// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.cluster.HistoryServer;
import dev.sluice.spark.cluster.SparkHome;
import dev.sluice.spark.other.SparkJars;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.util.Utils;
import org.junit.jupiter.api.Test;

/** The tab "Sluice" of a running application, and of a history server with and without the jar. */
final class UiTabIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Path JAR = Path.of(System.getProperty("sluice.jar"));

  private final Path directory;
  private final Path eventLogs;

  UiTabIT() throws IOException {
    directory = Files.createTempDirectory(Path.of(System.getProperty("sluice.target")), "ui-");
    eventLogs = Files.createDirectory(directory.resolve("event-logs"));
  }

  @Test
  void theTabHasTheRowsWhileTheApplicationRunsAndAfterwards() throws Exception {
    String application;
    long remoteBytes;
    try (LocalCluster cluster = withTab()) {
      JavaPairRDD<Integer, byte[]> shuffled =
          KnownShuffle.SMALL.repartitioned(cluster.context(), 4);
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());
      cluster.totals(); // waits for all reports
      long firstBytes = cluster.metrics().remoteBytes();
      String ui = cluster.context().sc().uiWebUrl().get();
      String page =
          page(
              URI.create(ui + "/sluice/"),
              html -> hasBothPeers(html) && html.contains(remote(firstBytes)));
      assertRows(page, firstBytes);
      assertThat(page).contains("<svg");
      assertThat(page(URI.create(ui + "/jobs/"), html -> true)).contains("/sluice/\"");
      application = cluster.context().sc().applicationId();
      assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 3)))
          .isEqualTo(KnownShuffle.SMALL.answer());
      cluster.totals(); // the driver has all reports, and writes them as it stops
      remoteBytes = cluster.metrics().remoteBytes();
    }
    SparkHome home = SparkHome.create(directory.resolve("spark-home"), SparkJars.onJava25());
    try (HistoryServer with =
        HistoryServer.start(home, directory, "with-jar", eventLogs, List.of(JAR))) {
      URI tab = with.address().resolve("/history/" + application + "/sluice/");
      String page = page(tab, html -> html.contains("sluice-executors"));
      assertRows(page, remoteBytes);
      assertThat(page).contains("<svg").matches(UiTabIT::hasBothPeers);
    }
    try (HistoryServer without =
        HistoryServer.start(home, directory, "without-jar", eventLogs, List.of())) {
      URI stages = without.address().resolve("/history/" + application + "/stages/");
      assertThat(page(stages, html -> html.contains("Completed Stages")))
          .doesNotContain("/sluice/");
      assertThat(without.log())
          .contains("Drop unrecognized event: dev.sluice.spark.ui.SluiceUpdate");
    }
  }

  /** READs end too late, so each executor fetches the other one's blocks by Spark's transfer. */
  @Test
  void theTabHasFallbacksOfEachPeerAndEachExecutorWithTheirKey() throws Exception {
    try (LocalCluster cluster =
        withTab(
            "spark.shuffle.rdma.soft.faults",
            "delay=1:3000",
            "spark.shuffle.rdma.read.timeout",
            "1s")) {
      assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 4)))
          .isEqualTo(KnownShuffle.SMALL.answer());
      cluster.totals(); // waits for all reports
      URI tab = URI.create(cluster.context().sc().uiWebUrl().get() + "/sluice/");
      String reason =
          "<td>DEADLINE</td><td[^>]*>[1-9]\\d*</td><td>spark.shuffle.rdma.read.timeout</td>";
      for (int executor = 0; executor < 2; executor++) {
        Pattern peer = Pattern.compile("<td>executor " + executor + " at [^<]*</td>" + reason);
        Pattern row =
            Pattern.compile(
                "(?s)sluice-executors.*<td>"
                    + executor
                    + "</td>(?:(?!</tr>).)*>[^<]*DEADLINE [1-9]");
        page(tab, html -> peer.matcher(html).find() && row.matcher(html).find());
      }
    }
  }

  @Test
  void theTabTellsWhySluiceIsOffWhileTheApplicationRunsAndAfterwards() throws Exception {
    String application;
    try (LocalCluster local =
        withTab("spark.master", "local[2]", "spark.shuffle.rdma.provider", "off")) {
      assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(local.context(), 4)))
          .isEqualTo(KnownShuffle.SMALL.answer());
      String ui = local.context().sc().uiWebUrl().get();
      page(URI.create(ui + "/sluice/"), UiTabIT::isOff);
      application = local.context().sc().applicationId();
    }
    SparkHome home = SparkHome.create(directory.resolve("spark-home"), SparkJars.onJava25());
    try (HistoryServer server =
        HistoryServer.start(home, directory, "off", eventLogs, List.of(JAR))) {
      page(server.address().resolve("/history/" + application + "/sluice/"), UiTabIT::isOff);
    }
  }

  /** Starts a cluster whose application has Spark's UI and an event log. */
  private LocalCluster withTab(String... more) {
    String[] ui = {
      "spark.ui.enabled", "true",
      "spark.ui.port", "0",
      "spark.eventLog.enabled", "true",
      "spark.eventLog.dir", eventLogs.toUri().toString()
    };
    return LocalCluster.start(Stream.of(ui, more).flatMap(Arrays::stream).toArray(String[]::new));
  }

  private static boolean isOff(String page) {
    return page.contains("off:</strong> spark.shuffle.rdma.provider is &quot;off&quot;")
        && page.contains("Key that would change it:</strong> spark.shuffle.rdma.provider<");
  }

  private static boolean hasBothPeers(String page) {
    return page.contains("<td>executor 0 at ") && page.contains("<td>executor 1 at ");
  }

  private static void assertRows(String page, long remoteBytes) {
    assertThat(page)
        .containsPattern(
            Pattern.compile(
                "(?s)sluice-executors.*<td>0</td><td>live</td><td title=\"\">soft</td>"
                    + ".*<td>1</td><td>live</td><td title=\"\">soft</td>"))
        .contains("<strong>Executors:</strong> 2 by soft")
        .contains(remote(remoteBytes));
  }

  private static String remote(long bytes) {
    return "100.0 % of " + Utils.bytesToString(bytes) + " remote bytes";
  }

  /** Asks until the page is as expected: a history server first replays the application. */
  static String page(URI address, Predicate<String> expected) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(address).timeout(TIMEOUT).build();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    try (HttpClient client =
        HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()) {
      HttpResponse<String> answer;
      do {
        TimeUnit.MILLISECONDS.sleep(200);
        answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(System.nanoTime() - deadline).as("%s: %s", address, answer.body()).isNegative();
      } while (answer.statusCode() != 200 || !expected.test(answer.body()));
      return answer.body();
    }
  }
}
