// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.Success$;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;

class ApplicationSummaryTest {
  private static final String LINE = "Shuffle blocks of the application: ";

  private final List<String> said = new ArrayList<>();
  private final List<String> remote = new ArrayList<>();
  private final ApplicationSummary summary =
      new ApplicationSummary(
          new ApplicationTotals(),
          line -> (line.startsWith("Remote shuffle bytes: ") ? remote : said).add(line));

  @Test
  void reportsTheShareOfEachPath() {
    summary.accept(
        report(
            "1",
            Map.of(
                "read.bytes", 750L << 20,
                "staged.bytes", 500L << 20,
                "registry.staged-outputs", 5L,
                "registry.directories-read-only", 1L,
                "fallback.bytes.CHECKSUM", 50L << 20,
                "fallback.bytes.DEADLINE", 200L << 20,
                "fallback.bytes.PEER", 0L)));
    summary.say();
    assertThat(remote)
        .containsExactly(
            "Remote shuffle bytes: registered map outputs 250.0 MiB (25.0 %), staging memory"
                + " 500.0 MiB (50.0 %; to reduce it, raise"
                + " spark.shuffle.rdma.registration.maxBytes), Spark's own transfer 250.0 MiB"
                + " (25.0 %; DEADLINE: spark.shuffle.rdma.read.timeout, CHECKSUM)");
  }

  @Test
  void namesKeysThatThereAre() throws IOException {
    Path document =
        Path.of(System.getProperty("sluice.basedir", "."), "..", "docs", "configuration.md");
    String keys = Files.readString(document);
    for (FallbackReason reason : FallbackReason.values()) {
      Optional<String> key = RemoteBytes.key(reason);
      if (key.isPresent() && key.get().startsWith("spark.shuffle.rdma.")) {
        assertThat(keys).as("%s", reason).contains("| `" + key.get() + "` |");
      }
    }
    assertThat(RemoteBytes.key(FallbackReason.STAGING))
        .contains("spark.shuffle.rdma.staging.maxBytes");
    assertThat(RemoteBytes.key(FallbackReason.TRANSPORT)).isEmpty();
  }

  /** Happens with a budget of 0, or if no form of registration works. */
  @Test
  void namesBudgetAndDoctorWhereNothingIsRegisteredInAnyDirectory() {
    summary.accept(
        report(
            "1",
            Map.of(
                "read.bytes", 1L << 20, "staged.bytes", 1L << 20, "registry.staged-outputs", 5L)));
    summary.say();
    assertThat(remote.getFirst())
        .contains(
            "(100.0 %; to reduce it, set spark.shuffle.rdma.registration.maxBytes if it is 0, or see"
                + " what the doctor says of the local directories), ");
  }

  @Test
  void namesTheLimitThatHadFilesStaged() {
    summary.accept(
        report(
            "1",
            Map.of(
                "read.bytes",
                2L << 20,
                "staged.bytes",
                1L << 20,
                "registry.directories-open-files",
                1L,
                "registry.staged-outputs",
                5L)));
    summary.say();
    assertThat(remote.getFirst())
        .contains(
            "staging memory 1024.0 KiB (50.0 %; to reduce it, raise the limit of open files or"
                + " spark.shuffle.rdma.registration.maxBytes)");
  }

  /** Encrypted map outputs are staged, as they have no checksums. */
  @Test
  void namesNoLimitWhereRegisteredMapOutputsWereStaged() {
    summary.accept(report("1", Map.of("read.bytes", 2L << 20, "staged.bytes", 2L << 20)));
    summary.say();
    assertThat(remote.getFirst()).contains("staging memory 2.0 MiB (100.0 %), ");
  }

  @Test
  void saysThatNothingWentNoWay() {
    summary.say();
    assertThat(remote)
        .containsExactly(
            "Remote shuffle bytes: registered map outputs 0 B, staging memory 0 B,"
                + " Spark's own transfer 0 B");
  }

  @Test
  void saysTheSumsOfAllExecutors() {
    summary.fetched(10);
    summary.accept(report("1", Map.of("read.blocks", 3L, "read.bytes", 30L)));
    summary.accept(report("2", Map.of("local.blocks", 5L, "fallback.blocks.CONNECT", 2L)));
    summary.say();
    assertThat(said)
        .containsExactly(
            LINE + "fallback.blocks.CONNECT=2, local.blocks=5, read.blocks=3, read.bytes=30");
  }

  @Test
  void waitsForReportsOfTasksThatHaveEnded() throws InterruptedException {
    summary.fetched(3);
    Thread end = Thread.ofPlatform().start(summary::say);
    while (end.getState() != Thread.State.TIMED_WAITING) {
      assertThat(end.isAlive()).as("closing waits").isTrue();
      Thread.onSpinWait();
    }
    summary.accept(report("1", Map.of("read.blocks", 3L)));
    assertThat(end.join(Duration.ofSeconds(20))).isTrue();
    assertThat(said).containsExactly(LINE + "read.blocks=3");
  }

  @Test
  void reportsTheNumberOfUnreportedBlocks() {
    summary.fetched(5);
    summary.accept(report("1", Map.of("read.blocks", 3L)));
    summary.say();
    assertThat(said)
        .containsExactly(
            LINE + "read.blocks=3; and 2 of executors that ended before they had reported");
  }

  /**
   * Spark counts the blocks that were merged into a chunk, while a block store client counts the
   * chunk.
   */
  @Test
  void aMergedChunkIsNotMissing() {
    TaskMetrics metrics = new TaskMetrics();
    metrics.shuffleReadMetrics().incRemoteBlocksFetched(1);
    metrics.shuffleReadMetrics().incRemoteBlocksFetched(100);
    metrics.shuffleReadMetrics().incRemoteMergedBlocksFetched(100);
    metrics.shuffleReadMetrics().incRemoteMergedChunksFetched(2);
    summary.onTaskEnd(
        new SparkListenerTaskEnd(1, 0, "ResultTask", Success$.MODULE$, null, null, metrics));
    summary.accept(report("1", Map.of("read.blocks", 1L, "fallback.blocks.BLOCK_KIND", 2L)));
    summary.say();
    assertThat(said).containsExactly(LINE + "fallback.blocks.BLOCK_KIND=2, read.blocks=1");
  }

  private static Report report(String executorId, Map<String, Long> counters) {
    return new Report(executorId, 1, "soft a", counters);
  }
}
