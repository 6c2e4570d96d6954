// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tab "Sluice" in a real browser, for a job with five executors: one is slow, one dies. The
 * executors name the slow one in {@code SLOW_PEER}, too.
 */
final class UiBrowserIT {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final String DEAD = "1";
  private static final int READ_REGISTERED = 0xa9cdea;
  private static final int TROUBLE = 0xe59866;
  private static final long SECONDS = 120;

  @TempDir private Path profile;

  @Test
  void theTabShowsTheSlowExecutorAndTheDeadOne() throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), CHROMIUM + " is not installed");
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.master",
            "local-cluster[5,1,1024]",
            "spark.cores.max",
            "5",
            "spark.shuffle.manager",
            SlowExecutorManager.class.getName(),
            "spark.ui.enabled",
            "true",
            "spark.ui.port",
            "0")) {
      LocalCluster.await(
          "SLOW_PEER",
          Duration.ofMinutes(3),
          () -> {
            shuffle(cluster);
            return cluster.totals().of("transfer.slow-peers") > 0;
          });
      kill(cluster);
      shuffle(cluster);
      URI tab = URI.create(cluster.context().sc().uiWebUrl().get() + "/sluice/");
      UiTabIT.page(tab, html -> html.contains("<td>lost: "));
      assertDocument(browse(tab, "--dump-dom"));
      assertPicture(tab);
    }
  }

  private static void shuffle(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 20)))
        .isEqualTo(KnownShuffle.SMALL.answer());
  }

  private static void kill(LocalCluster cluster) throws IOException {
    String id = "\0--executor-id\0" + DEAD + "\0";
    for (ProcessHandle executor : cluster.executors()) {
      Path arguments = Path.of("/proc/" + executor.pid() + "/cmdline");
      if (Files.readString(arguments, StandardCharsets.UTF_8).contains(id)) {
        assertThat(executor.destroyForcibly()).isTrue();
        return;
      }
    }
    throw new IllegalStateException("executor " + DEAD + " has no process");
  }

  private static void assertDocument(String document) {
    assertThat(document)
        .as("the slow executor is the first of the slowest peers, and marked")
        .containsPattern(
            Pattern.compile(
                "(?s)id=\"sluice-peers\".*?<tbody><tr><td>executor "
                    + SlowExecutorManager.SLOW
                    + " at (?:(?!</tr>).)*#e59866"))
        .as("the slow executor's state")
        .containsPattern(
            Pattern.compile(
                "(?s)id=\"sluice-executors\".*<td>"
                    + SlowExecutorManager.SLOW
                    + "</td><td>live, slow peer</td>"))
        .as("the dead executor")
        .containsPattern(
            Pattern.compile("(?s)id=\"sluice-executors\".*<td>" + DEAD + "</td><td>lost: "))
        .contains("<polygon ");
  }

  /** Colours are drawn only if the browser understands the document. */
  private void assertPicture(URI tab) throws Exception {
    Path file = Path.of(System.getProperty("sluice.target"), "tab.png"); // kept for a look
    browse(tab, "--screenshot=" + file);
    BufferedImage picture = ImageIO.read(file.toFile());
    assertThat(pixels(picture, READ_REGISTERED)).as("plot of READ bytes").isGreaterThan(5_000);
    assertThat(pixels(picture, TROUBLE)).as("bars of the slow executor").isGreaterThan(100);
  }

  private static long pixels(BufferedImage picture, int colour) {
    long count = 0;
    for (int y = 0; y < picture.getHeight(); y++) {
      for (int x = 0; x < picture.getWidth(); x++) {
        count += (picture.getRGB(x, y) & 0xffffff) == colour ? 1 : 0;
      }
    }
    return count;
  }

  /** Returns what the browser prints. */
  private String browse(URI page, String action) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(CHROMIUM.toString());
    command.addAll(List.of("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"));
    command.addAll(List.of("--user-data-dir=" + profile.resolve("chromium")));
    command.addAll(List.of("--window-size=1900,1300", action, page.toString()));
    Path output = profile.resolve("output");
    Process browser =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(profile.resolve("errors").toFile())
            .start();
    try {
      assertThat(browser.waitFor(SECONDS, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
    } finally {
      browser.descendants().forEach(ProcessHandle::destroyForcibly);
      browser.destroyForcibly();
    }
    assertThat(browser.exitValue()).as("%s", command).isZero();
    return Files.readString(output, StandardCharsets.UTF_8);
  }
}
