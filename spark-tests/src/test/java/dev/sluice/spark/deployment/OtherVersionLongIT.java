// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.account.WorkDirectory;
import dev.sluice.spark.cluster.SparkProcess;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.NodeProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * This version of Sluice and another one, of the same protocol or of the one before, on one node at
 * the same time: an application of each, and the node daemon of either. Each application runs
 * {@link ShuffleApplication#READ_AGAIN}.
 */
final class OtherVersionLongIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  /** Blocks of a shuffle, none of which is empty. */
  private static final int BLOCKS = KnownShuffle.SMALL.maps() * ShuffleApplication.PARTITIONS;

  /** Rounds that read the first shuffle again. Its executors have left. */
  private static final List<Integer> FIRST_AGAIN = List.of(1, 3);

  /** The round that reads the second shuffle again. Its executors have left, too. */
  private static final int SECOND_AGAIN = 4;

  private static final int ROUNDS = 6;

  @TempDir private Path directory;
  private OtherVersion other;
  private Deployment deployment;

  @BeforeEach
  void start() throws Exception {
    other = OtherVersion.given();
    deployment = Deployment.startOnHosts("other-version", "127.0.0.1", "127.0.0.1");
  }

  @AfterEach
  void close() {
    if (deployment != null) {
      deployment.close();
    }
  }

  @Test
  void applicationsOfBothVersionsReadAtTheDaemonOfThisOne() throws Exception {
    deployment.goOn(1);
    deployment.goOn(2);
    try (NodeProcess daemon = NodeProcess.in(directory).start()) {
      SparkProcess theirs = startOther();
      SparkProcess ours = startOwn();
      assertAllRead(theirs);
      assertAllRead(ours);
      assertThat(theirs.log()).contains("runs Sluice " + DropInJar.version());
      assertThat(daemon.output()).doesNotContain("WARN", "ERROR");
    }
  }

  @Test
  void applicationsOfBothVersionsRunAtTheDaemonOfTheOther() throws Exception {
    deployment.goOn(1);
    deployment.goOn(2);
    try (NodeProcess _ = NodeProcess.in(directory).installedIn(other.home()).start()) {
      SparkProcess theirs = startOther();
      SparkProcess ours = startOwn();
      assertAllRead(theirs);
      if (other.isOfThisProtocol()) {
        assertAllRead(ours);
        assertThat(ours.log()).contains("runs Sluice " + other.version());
      } else {
        assertRight(ours);
        assertRefused();
        List<Round> rounds = Round.of(ours.log());
        assertThat(rounds.getFirst().totals().fallbackByReason()).isEmpty();
        assertThat(rounds.getFirst().totals().read()).isPositive();
        assertThat(rounds.getLast().totals().of("node.taken")).isZero();
      }
    }
  }

  /** Only the protocol of this version can stage in one question. */
  @Test
  void stagedBlocksAreReadByExecutorsOfTheSameProtocol() throws Exception {
    deployment.goOn(1);
    deployment.goOn(2);
    try (NodeProcess _ =
        NodeProcess.in(directory).set("sluice.node.registration.maxBytes", 0).start()) {
      SparkProcess theirs = startOther();
      if (other.isOfThisProtocol()) {
        assertAllRead(theirs);
        assertThat(last(theirs).stagedBytes()).isPositive();
      } else {
        assertRight(theirs);
        assertThat(last(theirs).read()).isZero();
        assertThat(last(theirs).fallbackByReason()).containsOnlyKeys("STAGING");
      }
    }
  }

  /**
   * The other daemon keeps what this one has taken, and this one reads what the other one has
   * written.
   */
  @Test
  void applicationsGoOnWhileTheirDaemonIsDowngradedAndUpgraded() throws Exception {
    try (NodeProcess daemon = NodeProcess.in(directory).start()) {
      SparkProcess theirs = startOther();
      SparkProcess ours = startOwn();
      awaitRounds(1, theirs, ours);
      daemon.replaceBy(other.home());
      deployment.goOn(1);
      awaitRounds(3, theirs, ours);
      daemon.replaceByOwn();
      deployment.goOn(2);
      assertAllRead(theirs);
      if (other.isOfThisProtocol()) {
        assertAllRead(ours);
      } else {
        assertRight(ours);
        assertReadAgain(ours, FIRST_AGAIN);
        assertThat(last(ours).fallbackByReason()).isEmpty();
        assertRefused();
      }
    }
  }

  private SparkProcess startOther() throws IOException {
    Map<String, String> settings = new HashMap<>(node());
    settings.put("spark.shuffle.rdma.read.hedge", ""); // An earlier version refuses the key.
    return deployment.startReadingAgain("other", other.jar(), settings);
  }

  private SparkProcess startOwn() throws IOException {
    return deployment.startReadingAgain("own", DropInJar.path(), node());
  }

  private Map<String, String> node() {
    return Map.of(
        "spark.shuffle.rdma.node",
        "on",
        "spark.shuffle.rdma.node.socket",
        NodeProcess.socket(directory).toString());
  }

  private static void awaitRounds(int rounds, SparkProcess... applications)
      throws InterruptedException {
    String round = "\n" + ShuffleApplication.ROUND + ".*?";
    for (SparkProcess application : applications) {
      application.awaitLog(Pattern.compile(round.repeat(rounds), Pattern.DOTALL), TIMEOUT);
    }
  }

  private static Totals last(SparkProcess application) {
    return Round.of(application.log()).getLast().totals();
  }

  /** Every answer is right, and no block went by Spark's transfer. */
  private static void assertAllRead(SparkProcess application) throws InterruptedException {
    assertRight(application);
    assertReadAgain(application, FIRST_AGAIN);
    assertReadAgain(application, List.of(SECOND_AGAIN));
    assertThat(last(application).fallbackByReason()).isEmpty();
    assertThat(last(application).of("node.refused")).isZero();
  }

  private static void assertReadAgain(SparkProcess application, List<Integer> again) {
    List<Round> rounds = Round.of(application.log());
    for (int round : again) {
      assertThat(rounds.get(round).totals().read() - rounds.get(round - 1).totals().read())
          .as("blocks that were READ in round %d of %s", round, rounds)
          .isEqualTo(BLOCKS);
    }
  }

  private static void assertRight(SparkProcess application) throws InterruptedException {
    int exitCode = application.await(TIMEOUT);
    String log = application.log();
    String end = log.substring(Math.max(0, log.length() - 8_000));
    assertThat(exitCode).as(end).isZero();
    assertThat(Round.of(log)).hasSize(ROUNDS).allMatch(Round::right);
  }

  /** Executors of this version say why the other daemon does not take their map outputs. */
  private void assertRefused() throws IOException {
    String logs =
        new WorkDirectory(deployment.workOf(0)).logs()
            + new WorkDirectory(deployment.workOf(1)).logs();
    assertThat(logs)
        .contains("map outputs stay with this executor, because the node daemon does not take them")
        .contains("the executor speaks version", "of the protocol, the node daemon versions");
  }
}
