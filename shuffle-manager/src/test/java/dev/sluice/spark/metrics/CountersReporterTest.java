// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CountersReporterTest {
  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<Report> sent = new CopyOnWriteArrayList<>();
  private final List<Details> sentDetails = new CopyOnWriteArrayList<>();
  private final List<String> said = new ArrayList<>();
  private final HandTurnedScheduler scheduler = new HandTurnedScheduler();
  private final CountersReporter reporter =
      new CountersReporter(
          "1",
          "soft a",
          new ExecutorMetrics(counters),
          new Held(),
          this::answer,
          scheduler,
          this::nanoTime,
          said::add);
  private final List<Integer> held = new ArrayList<>(List.of(3, 4, 5));
  private List<Integer> over = List.of();
  private boolean driverIsGone;
  private boolean knowsDetails = true;

  /** Runs once, when the next report that has listed the shuffles looks at the clock. */
  private Runnable duringReport = () -> {};

  private boolean isReporting;

  private final class Held implements CountersReporter.Shuffles {
    @Override
    public List<Integer> held() {
      isReporting = true;
      return List.copyOf(held);
    }

    @Override
    public void over(int shuffleId) {
      held.remove((Integer) shuffleId);
    }
  }

  @AfterEach
  void stop() {
    scheduler.shutdownNow();
  }

  @Test
  void manyTasksHaveOneReport() {
    counters.read(2, 20);
    counters.fallback(FallbackReason.CONNECT, "executor 2 at host-2", 1);
    reporter.changed();
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(sent).hasSize(1);
    assertThat(sent.getFirst().counters())
        .containsEntry("read.blocks", 2L)
        .containsEntry("read.bytes", 20L)
        .containsEntry("fallback.blocks.CONNECT", 1L)
        .containsEntry("fallback.bytes.CONNECT", 0L);
    later(Duration.ofMinutes(1));
    assertThat(sent).hasSize(1);
  }

  @Test
  void fallbacksByPeerAreReportedWhenThereAreMore() {
    counters.fallback(FallbackReason.CONNECT, "executor 2 at host-2", 1);
    reporter.changed();
    later(Duration.ofMillis(200));
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(sent).hasSize(2);
    assertThat(sentDetails)
        .containsExactly(
            new Details(
                "1",
                Optional.empty(),
                new PeerFallbacks(
                    1, List.of(new PeerBlocks("executor 2 at host-2", "CONNECT", 1)), 0)));
    counters.fallback(FallbackReason.CONNECT, "executor 2 at host-2", 2);
    driverIsGone = true;
    reporter.changed();
    later(Duration.ofMillis(200));
    driverIsGone = false;
    later(Duration.ofSeconds(10));
    assertThat(sentDetails).hasSize(2).last().matches(report -> report.fallbacks().sequence() == 3);
  }

  /** A driver of an older version does not know these reports. */
  @Test
  void countersAreReportedWithoutThoseOfPeers() {
    knowsDetails = false;
    counters.fallback(FallbackReason.CONNECT, "executor 2 at host-2", 1);
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(sentDetails).isEmpty();
    assertThat(sent).hasSize(1);
  }

  @Test
  void theTimesOfPeersAreThoseOfTheLastMinutes() {
    LatencyHistogram all = new LatencyHistogram();
    CountersReporter withReads =
        new CountersReporter(
            "1",
            "soft a",
            new ExecutorMetrics(counters),
            Optional.of(
                new ReadTimesReporter(all, Map.of(new PeerAddress("2", "host-2", 4000), all))),
            new Held(),
            this::answer,
            scheduler,
            this::nanoTime,
            said::add);
    for (int i = 0; i < 10_000; i++) {
      all.record(TimeUnit.MILLISECONDS.toNanos(1), 100);
    }
    later(Duration.ofMinutes(1));
    for (int i = 0; i < 10; i++) {
      all.record(TimeUnit.MILLISECONDS.toNanos(500), 100);
    }
    later(Duration.ofMinutes(1));
    withReads.changed();
    later(Duration.ofMillis(200));
    PeerReads peer = sentDetails.getLast().times().orElseThrow().slowest().getFirst();
    assertThat(peer.requests()).isEqualTo(10);
    assertThat(peer.p50Micros()).isGreaterThan(400_000);
    withReads.changed();
    later(Duration.ofMillis(200));
    assertThat(sentDetails).as("no more READs, no report").hasSize(1);
  }

  @Test
  void theAnswerEndsShufflesThatCanNoLongerBeRead() {
    over = List.of(4);
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(sent.getFirst().shuffles()).containsExactly(3, 4, 5);
    assertThat(held).containsExactly(3, 5);
  }

  @Test
  void anExecutorWithoutTasksLearnsWhichShufflesAreOver() {
    reporter.changed();
    later(Duration.ofMillis(200));
    over = List.of(3, 4, 5);
    later(Duration.ofMinutes(2));
    assertThat(sent).hasSize(2);
    assertThat(held).isEmpty();
    later(Duration.ofMinutes(2));
    int asked = sent.size();
    later(Duration.ofHours(1));
    assertThat(sent).as("reports while nothing is held").hasSize(asked);
  }

  @Test
  void theLastReportEndsNothing() {
    over = List.of(3, 4, 5);
    reporter.changed();
    reporter.close();
    assertThat(sent.getLast().shuffles()).isEmpty();
  }

  @Test
  void aReportWaitsUntilTasksHaveCeased() {
    reporter.changed();
    later(Duration.ofMillis(199));
    counters.read(3, 30);
    reporter.changed();
    later(Duration.ofMillis(199));
    assertThat(sent).isEmpty();
    later(Duration.ofMillis(1));
    assertThat(sent.getFirst().counters()).containsEntry("read.blocks", 3L);
  }

  @Test
  void tasksThatNeverCeaseAreReportedAllTheSame() {
    for (int task = 0; task < 101; task++) {
      counters.read(1, 10);
      reporter.changed();
      later(Duration.ofMillis(100));
    }
    assertThat(sent).singleElement().matches(r -> r.counters().get("read.blocks") >= 100);
    assertThat(said).singleElement().asString().matches("read.blocks=10[01], read.bytes=.*");
  }

  @Test
  void theNextTaskHasAReportOfItsOwn() {
    reporter.changed();
    later(Duration.ofMillis(200));
    counters.read(5, 50);
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(sent).hasSize(2);
    assertThat(sent.getLast().counters()).containsEntry("read.blocks", 5L);
    assertThat(sent.getLast().sequence()).isGreaterThan(sent.getFirst().sequence());
  }

  /** The driver keeps the later of two reports that are made at the same time. */
  @Test
  void theReportWithTheLargestSequenceHasTheNewestCounters() {
    counters.read(1, 10);
    reporter.changed();
    duringReport =
        () -> {
          counters.read(1, 10);
          reporter.changed();
          later(Duration.ofMillis(200));
          assertThat(sent).as("the second report").hasSize(1);
          later(Duration.ofNanos(1));
        };
    later(Duration.ofMillis(200));
    assertThat(sent).hasSize(2);
    assertThat(Collections.max(sent, Comparator.comparingLong(Report::sequence)).counters())
        .containsEntry("read.blocks", 2L);
  }

  @Test
  void aReportThatTheDriverDidNotTakeComesAgainAlsoWithoutAnotherTask() {
    driverIsGone = true;
    counters.read(5, 50);
    reporter.changed();
    later(Duration.ofMillis(200));
    driverIsGone = false;
    sent.clear();
    later(Duration.ofSeconds(10));
    assertThat(sent).singleElement().matches(r -> r.counters().get("read.blocks") == 5);
  }

  @Test
  void theLogHasItWhenTasksHaveCeasedAndNotAtTheEnd() {
    counters.read(2, 20);
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(said).containsExactly("read.blocks=2, read.bytes=20");
    later(Duration.ofMinutes(1));
    reporter.close();
    assertThat(said).hasSize(1);
  }

  @Test
  void theLogHasOneLineInTenSecondsAndTheLastOneIsNotLeftOut() {
    for (int task = 0; task < 5; task++) {
      counters.read(1, 10);
      reporter.changed();
      later(Duration.ofMillis(300));
    }
    assertThat(said).containsExactly("read.blocks=1, read.bytes=10");
    later(Duration.ofSeconds(10));
    assertThat(said).hasSize(2).last().isEqualTo("read.blocks=5, read.bytes=50");
    later(Duration.ofMinutes(1));
    assertThat(said).hasSize(2);
  }

  @Test
  void closingLogsAndReportsTheRemainingCounts() {
    counters.read(2, 20);
    reporter.changed();
    later(Duration.ofMillis(100));
    reporter.close();
    assertThat(said).containsExactly("read.blocks=2, read.bytes=20");
    assertThat(sent.getLast().counters()).containsEntry("read.blocks", 2L);
  }

  @Test
  void closingDoesNotRepeatReports() {
    reporter.changed();
    later(Duration.ofMillis(200));
    reporter.close();
    assertThat(sent).hasSize(1);
  }

  /** Others READ from an executor that has no tasks left. */
  @Test
  void closingLogsAndReportsCountsAfterTheLastTask() {
    reporter.changed();
    later(Duration.ofMillis(200));
    counters.add(ShuffleCounter.STAGED_BYTES, 30);
    reporter.close();
    assertThat(said).containsExactly("staged.bytes=30");
    assertThat(sent.getLast().counters()).containsEntry("staged.bytes", 30L);
  }

  @Test
  void countsAfterTheLastTaskAreLoggedPeriodically() {
    reporter.changed();
    later(Duration.ofMillis(200));
    counters.add(ShuffleCounter.STAGED_BYTES, 30);
    later(Duration.ofMinutes(2));
    assertThat(said).containsExactly("staged.bytes=30");
    later(Duration.ofMinutes(2));
    assertThat(said).hasSize(1);
  }

  @Test
  void aDriverThatIsGoneDoesNotKeepItFromClosing() {
    driverIsGone = true;
    counters.read(2, 20);
    reporter.changed();
    reporter.close();
    assertThat(said).containsExactly("read.blocks=2, read.bytes=20");
  }

  private long nanoTime() {
    if (isReporting) {
      isReporting = false;
      Runnable meanwhile = duringReport;
      duringReport = () -> {};
      meanwhile.run();
    }
    return scheduler.nanoTime();
  }

  private void later(Duration duration) {
    scheduler.turn(duration.toNanos());
  }

  private DirectoryMessage answer(DirectoryMessage message) throws IOException {
    if (driverIsGone || !knowsDetails && message instanceof Details) {
      throw new IOException("gone");
    }
    if (message instanceof Details details) {
      sentDetails.add(details);
      return new Ack();
    }
    sent.add((Report) message);
    return new Over(over);
  }

  /**
   * A scheduler whose time the test advances. It runs tasks that are due at once on a thread of
   * their own.
   */
  private static final class HandTurnedScheduler extends ScheduledThreadPoolExecutor {
    private record Delayed(Runnable action, long dueNanos) {}

    private final List<Delayed> delayed = new ArrayList<>();
    private long nanos = 1_000_000_000L;

    HandTurnedScheduler() {
      super(1);
    }

    long nanoTime() {
      return nanos;
    }

    @Override
    public Future<?> submit(Runnable action) {
      return super.schedule(action, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
      delayed.add(new Delayed(action, nanos + unit.toNanos(delay)));
      return null;
    }

    void turn(long duration) {
      nanos += duration;
      while (delayed.stream().anyMatch(this::isDue)) {
        List<Delayed> due = delayed.stream().filter(this::isDue).toList();
        delayed.removeAll(due);
        due.forEach(one -> one.action().run());
      }
    }

    private boolean isDue(Delayed one) {
      return one.dueNanos() <= nanos;
    }
  }
}
