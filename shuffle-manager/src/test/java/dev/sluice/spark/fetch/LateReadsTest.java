// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.metrics.ShuffleCounters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LateReadsTest {
  private static final int POOL_BYTES = 64 << 20;
  private static final int BYTES = 1 << 20;

  private final FakeTimer timer = new FakeTimer();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final AtomicInteger named = new AtomicInteger();
  private LateReads reads =
      new LateReads(true, POOL_BYTES, timer, counters, named::incrementAndGet);

  private LateReads.Read begin(String peer) {
    LateReads.Read read = reads.new Read(peer, BYTES);
    read.begin();
    return read;
  }

  /** Returns a READ that has been under way for some time. */
  private LateReads.Read underWay(String peer, long ms) {
    LateReads.Read read = begin(peer);
    timer.advanceMs(ms);
    return read;
  }

  /** READs a batch of 1 MiB. */
  private void read(String peer, long ms) {
    underWay(peer, ms).end(BYTES);
  }

  /** READs 1 MiB from each of a hundred peers, which allows for two extra batches. */
  private void readFromAll() {
    for (int peer = 0; peer < LateReads.MIN_READS; peer++) {
      read("peer " + peer, 1);
    }
  }

  /** Makes the peer's READ late so many times, a second apart. */
  private void beLate(String peer, int times) {
    for (int i = 0; i < times; i++) {
      advance(LatePeers.APART_NANOS);
      read(peer, 51);
    }
  }

  private void advance(long nanos) {
    timer.advanceMs(TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  private static void end(LateReads.Read read) {
    read.end(0);
    read.close();
  }

  private long count(String counter) {
    return counters.byName().get(counter).getAsLong();
  }

  @Test
  void nothingIsLateBeforeAHundredReads() {
    for (int i = 1; i < LateReads.MIN_READS; i++) {
      read("1", 1);
    }
    LateReads.Read read = underWay("2", 1_000);
    assertThat(read.overtake()).isFalse();

    read("1", 1);
    assertThat(read.overtake()).isTrue();
    assertThat(count("hedge.batches")).isOne();
    assertThat(count("hedge.bytes")).isEqualTo(BYTES);
  }

  @Test
  void aReadIsNotLateBeforeFiftyMilliseconds() {
    readFromAll();
    LateReads.Read read = underWay("1", 50);
    assertThat(read.overtake()).isFalse();
    timer.advanceMs(1);
    assertThat(read.overtake()).isTrue();
  }

  /** The histogram is off by an eighth at most. */
  @Test
  void aReadIsLateAfterEightTimesTheMedian() {
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      read("1", 100);
    }
    LateReads.Read read = underWay("1", 690);
    assertThat(read.overtake()).isFalse();
    timer.advanceMs(220);
    assertThat(read.overtake()).isTrue();
  }

  @Test
  void aSlowPeerAmongAFewDoesNotMakeItselfTimely() {
    for (int i = 0; i < LateReads.MIN_READS / 4; i++) {
      read("1", 1);
      read("2", 1);
      read("3", 1);
      read("slow", 1_000);
    }
    assertThat(underWay("slow", 51).overtake()).isTrue();
  }

  @Test
  void readsOfEarlierMinutesAreForgotten() {
    readFromAll();
    timer.advanceMs(TimeUnit.NANOSECONDS.toMillis(2 * LateReads.WINDOW_NANOS));
    read("1", 1);
    assertThat(underWay("1", 1_000).overtake()).isFalse();
  }

  /** No READ may have ended since. */
  @Test
  void aThresholdOfEarlierMinutesIsForgotten() {
    readFromAll();
    advance(2 * LateReads.WINDOW_NANOS - LateReads.PAUSE_NANOS);
    LateReads.Read read = begin("1");
    timer.advanceMs(51);
    assertThat(read.overtake()).isFalse();
  }

  @Test
  void readsOfTheLastMinuteCount() {
    readFromAll();
    timer.advanceMs(TimeUnit.NANOSECONDS.toMillis(LateReads.WINDOW_NANOS));
    read("1", 1);
    assertThat(underWay("1", 51).overtake()).isTrue();
  }

  @Test
  void anExtraByteNeedsFiftyReadBytes() {
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      LateReads.Read small = begin("1");
      timer.advanceMs(1);
      small.end(BYTES / 2);
    }
    LateReads.Read first = begin("1");
    LateReads.Read second = underWay("2", 51);
    assertThat(first.overtake()).isTrue();
    assertThat(second.overtake()).as("100 x 0.5 MiB allow for one batch").isFalse();

    first.end(BYTES);
    assertThat(second.overtake()).as("dropped bytes allow for nothing").isFalse();

    for (int i = 1; i < LateReads.READ_PER_EXTRA; i++) {
      read("3", 1);
    }
    assertThat(second.overtake()).isFalse();
    read("3", 1);
    assertThat(second.overtake()).as("tried again").isTrue();
  }

  /** An executor that has READ for a day must not ask for gigabytes at once. */
  @Test
  void noMoreThanSixteenMebibytesAreSavedUp() {
    reads = new LateReads(true, Integer.MAX_VALUE, timer, counters, named::incrementAndGet);
    for (int i = 0; i < 2_000; i++) {
      read("1", 1);
    }
    List<LateReads.Read> late = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      late.add(begin("1"));
    }
    timer.advanceMs(51);
    assertThat(late.stream().filter(LateReads.Read::overtake))
        .hasSize((int) (LateReads.MAX_SAVED_BYTES / BYTES));
  }

  @Test
  void overtakenReadsHoldAnEighthOfTheBuffersAtMost() {
    reads = new LateReads(true, 8 * 2 * BYTES, timer, counters, named::incrementAndGet);
    for (int i = 0; i < 10 * LateReads.READ_PER_EXTRA; i++) {
      read("1", 1);
    }
    LateReads.Read first = begin("1");
    LateReads.Read second = begin("1");
    LateReads.Read third = begin("1");
    LateReads.Read fourth = underWay("1", 51);
    assertThat(first.overtake()).isTrue();
    assertThat(second.overtake()).isTrue();
    assertThat(third.overtake()).isFalse();

    first.end(BYTES);
    assertThat(third.overtake()).as("another part may follow").isFalse();
    first.close();
    first.close();
    assertThat(third.overtake()).as("after a success").isTrue();
    assertThat(fourth.overtake()).isFalse();

    second.end(0);
    second.close();
    assertThat(fourth.overtake()).as("after a failure").isTrue();
  }

  @Test
  void aReadThatHasEndedIsNotOvertaken() {
    readFromAll();
    LateReads.Read read = underWay("1", 51);
    read.end(0);
    assertThat(read.overtake()).isFalse();
  }

  /** Otherwise its bytes would be fetched twice, and no limit would count them. */
  @Test
  void aReadThatWasLeftDoesNotBegin() {
    LateReads.Read read = reads.new Read("peer 1", BYTES);
    assertThat(read.leave()).isTrue();
    assertThat(read.begin()).isFalse();
    assertThat(read.leave()).isTrue();
  }

  @Test
  void aReadThatHasBegunIsNotLeft() {
    LateReads.Read read = begin("peer 1");
    assertThat(read.leave()).isFalse();
    assertThat(read.begin()).as("its next part").isTrue();
  }

  @Test
  void aReadThatEndsMeanwhileHoldsNothing() throws Exception {
    reads = new LateReads(true, 8 * 4096, timer, counters, named::incrementAndGet);
    try (ExecutorService completions = Executors.newSingleThreadExecutor()) {
      for (int i = 0; i < 2_000; i++) {
        if (i % 500 == 0) {
          readFromAll(); // A threshold lasts for two minutes.
        }
        LateReads.Read read = reads.new Read("1", 1);
        read.begin();
        timer.advanceMs(51);
        Future<?> end = completions.submit(() -> end(read));
        read.overtake();
        end.get();

        LateReads.Read next = reads.new Read("1", 1);
        next.begin();
        timer.advanceMs(51);
        assertThat(next.overtake()).as("there is room for one").isTrue();
        end(next);
      }
    }
  }

  @Test
  void aPeerThatIsLateThreeTimesInARowIsAvoidedUntilItIsInTime() {
    readFromAll();
    beLate("peer 1", 2);
    read("peer 1", 1);
    beLate("peer 1", 2);
    assertThat(reads.avoids("peer 1", () -> "")).as("not in a row").isFalse();

    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).isTrue();
    assertThat(reads.avoids("peer 2", () -> "")).isFalse();

    advance(LatePeers.PROBE_NANOS);
    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).as("late again").isTrue();

    read("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();
    beLate("peer 1", 2);
    assertThat(reads.avoids("peer 1", () -> "")).as("was in time").isFalse();
  }

  @Test
  void onlyOneProbeIsTakenInHalfAMinute() {
    readFromAll();
    assertThat(reads.takesProbe("peer 1")).as("not avoided").isFalse();
    beLate("peer 1", LatePeers.MAX_LATE);
    advance(LatePeers.PROBE_NANOS);
    assertThat(reads.takesProbe("peer 2")).isFalse();
    assertThat(reads.takesProbe("peer 1")).isTrue();
    assertThat(reads.takesProbe("peer 1")).isFalse();

    timer.advanceMs(TimeUnit.NANOSECONDS.toMillis(LatePeers.PROBE_NANOS) - 1);
    assertThat(reads.takesProbe("peer 1")).isFalse();
    timer.advanceMs(1);
    assertThat(reads.takesProbe("peer 1")).isTrue();
    assertThat(reads.avoids("peer 1", () -> "")).as("the probe has not ended").isTrue();

    read("peer 1", 1);
    advance(LatePeers.PROBE_NANOS);
    assertThat(reads.takesProbe("peer 1")).as("not avoided any more").isFalse();
  }

  /** The engine sees two READs a minute of it, and compares no fewer than ten. */
  @Test
  void aPeerThatIsAvoidedIsNamedOnceAMinute() {
    readFromAll();
    beLate("peer 1", LatePeers.MAX_LATE);
    assertThat(named).hasValue(0);
    for (int minute = 1; minute <= 3; minute++) {
      assertThat(reads.avoids("peer 1", () -> "")).isTrue();
      assertThat(reads.avoids("peer 1", () -> "")).isTrue();
      assertThat(named).hasValue(minute);
      advance(LatePeers.REPORT_NANOS - 1_000_000);
      assertThat(reads.avoids("peer 1", () -> "")).isTrue();
      assertThat(named).hasValue(minute);
      timer.advanceMs(1);
    }
  }

  @Test
  void aProbeThatIsRefusedIsTriedAgain() {
    readFromAll();
    beLate("peer 1", LatePeers.MAX_LATE);
    underWay("peer 2", 51).overtake();
    underWay("peer 2", 51).overtake();
    advance(LatePeers.PROBE_NANOS);
    assertThat(reads.takesProbe("peer 1")).isTrue();
    assertThat(reads.new Read("peer 1", BYTES).holdProbe()).as("2 % are used up").isFalse();
    assertThat(reads.takesProbe("peer 1")).isTrue();
  }

  /** A buffer has whole pages. */
  @Test
  void smallBatchesHoldTheirWholeBuffers() {
    reads = new LateReads(true, 8 * 8192, timer, counters, named::incrementAndGet);
    readFromAll();
    List<LateReads.Read> small = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      small.add(reads.new Read("peer 1", 1));
    }
    small.forEach(LateReads.Read::begin);
    timer.advanceMs(51);
    assertThat(small.stream().map(LateReads.Read::overtake)).containsExactly(true, true, false);
  }

  /** Its bytes are dropped, whatever becomes of it. */
  @Test
  void aProbeTakesPartOfTheLimits() {
    reads = new LateReads(true, 8 * BYTES, timer, counters, named::incrementAndGet);
    readFromAll();
    LateReads.Read probe = reads.new Read("peer 1", BYTES);
    assertThat(probe.holdProbe()).isTrue();
    LateReads.Read late = underWay("peer 2", 51);
    assertThat(late.overtake()).as("an eighth of the buffers is held").isFalse();
    probe.close();
    assertThat(late.overtake()).as("the probe did not begin").isTrue();
    late.end(BYTES);
    assertThat(reads.new Read("peer 1", BYTES).holdProbe()).as("2 % are used up").isFalse();
    assertThat(count("hedge.batches")).isEqualTo(2);
    assertThat(count("hedge.bytes")).isEqualTo(2 * BYTES);
  }

  @Test
  void aReadIsCountedLateOnce() {
    readFromAll();
    for (int i = 0; i < 2; i++) {
      advance(LatePeers.APART_NANOS);
      LateReads.Read overtaken = underWay("peer 1", 51);
      assertThat(overtaken.overtake()).isTrue();
      advance(LatePeers.APART_NANOS);
      overtaken.end(i * BYTES);
      overtaken.close();
    }
    assertThat(reads.avoids("peer 1", () -> "")).as("late twice").isFalse();

    advance(LatePeers.APART_NANOS);
    LateReads.Read refused = underWay("peer 1", 51);
    assertThat(refused.overtake()).as("2 % are used up").isFalse();
    assertThat(reads.avoids("peer 1", () -> "")).isTrue();
  }

  @Test
  void aStallOfAPeerCountsOnce() {
    readFromAll();
    List<LateReads.Read> started = new ArrayList<>();
    for (int ms = 0; ms < 240; ms += 20) {
      started.add(begin("peer 1"));
      timer.advanceMs(20);
      started.forEach(LateReads.Read::overtake);
    }
    timer.advanceMs(60);
    started.forEach(read -> read.end(BYTES));
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();

    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();
    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).isTrue();
  }

  @Test
  void aLateReadCountsIfItBeginsASecondAfterTheEndOfTheOneBefore() {
    readFromAll();
    LateReads.Read first = underWay("peer 1", 51);
    assertThat(first.overtake()).isTrue();
    timer.advanceMs(2_000);
    first.end(BYTES);
    timer.advanceMs(999);
    read("peer 1", 51);
    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).as("the second began too early").isFalse();

    beLate("peer 1", 1);
    assertThat(reads.avoids("peer 1", () -> "")).isTrue();
  }

  @Test
  void aPeerWhoseReadsDoNotEndIsAvoided() {
    readFromAll();
    for (int i = 0; i < LatePeers.MAX_LATE; i++) {
      assertThat(reads.avoids("peer 1", () -> "")).isFalse();
      underWay("peer 1", 51).overtake();
      advance(LatePeers.APART_NANOS);
    }
    assertThat(reads.avoids("peer 1", () -> "")).isTrue();
  }

  @Test
  void readsAreNotLateForAPauseOfThisProcess() {
    readFromAll();
    LateReads.Read read = begin("peer 1");
    LateReads.Read other = begin("peer 1");
    long asleep = timer.nanoTime();
    timer.advanceMs(300);
    reads.waited(asleep, LateReads.PAUSE_NANOS);
    assertThat(read.overtake()).isFalse();
    other.end(BYTES);

    timer.advanceMs(51);
    assertThat(read.overtake()).isTrue();
  }

  @Test
  void pausesOfThisProcessDoNotCountAgainstAPeer() {
    readFromAll();
    for (int i = 0; i < LatePeers.MAX_LATE; i++) {
      advance(LatePeers.APART_NANOS);
      LateReads.Read read = begin("peer 1");
      long asleep = timer.nanoTime();
      timer.advanceMs(300);
      reads.waited(asleep, LateReads.PAUSE_NANOS);
      read.end(BYTES);
    }
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();
  }

  @Test
  void aTaskThatWakesUpALittleLateIsNoPause() {
    readFromAll();
    LateReads.Read read = begin("peer 1");
    long asleep = timer.nanoTime();
    timer.advanceMs(100);
    reads.waited(asleep, LateReads.PAUSE_NANOS);
    assertThat(read.overtake()).isTrue();
  }

  @Test
  void noPeerIsAvoidedIfMostWouldBe() {
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      read(i % 2 == 0 ? "1" : "2", 1);
    }
    beLate("1", LatePeers.MAX_LATE);
    assertThat(reads.avoids("1", () -> "")).as("a half").isTrue();
    beLate("2", LatePeers.MAX_LATE);
    assertThat(reads.avoids("1", () -> "")).isFalse();
    assertThat(reads.avoids("2", () -> "")).isFalse();
  }

  /** This process may be slow as well. */
  @Test
  void theOnlyPeerIsNotAvoided() {
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      read("1", 1);
    }
    beLate("1", LatePeers.MAX_LATE);
    assertThat(reads.avoids("1", () -> "")).isFalse();
  }

  /** They would count as peers that are in time. */
  @Test
  void peersThatAreGoneAreForgotten() {
    readFromAll();
    timer.advanceMs(TimeUnit.NANOSECONDS.toMillis(2 * LateReads.WINDOW_NANOS));
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      read("peer 1", 1);
      read("peer 2", 1);
      read("peer 3", 1);
    }
    beLate("peer 1", LatePeers.MAX_LATE);
    beLate("peer 2", LatePeers.MAX_LATE);
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();
  }

  @Test
  void nothingIsLateIfItIsOff() {
    reads = new LateReads(false, POOL_BYTES, timer, counters, named::incrementAndGet);
    readFromAll();
    beLate("peer 1", LatePeers.MAX_LATE);
    assertThat(underWay("peer 1", 1_000).overtake()).isFalse();
    assertThat(reads.avoids("peer 1", () -> "")).isFalse();
    assertThat(reads.pauseNanos()).isEqualTo(Long.MAX_VALUE);
  }

  /** Each READ of each task would take it. */
  @Test
  void theLockIsNotTakenIfItIsOff() throws Exception {
    LateReads off = new LateReads(false, POOL_BYTES, timer, counters, named::incrementAndGet);
    LateReads.Read read = off.new Read("peer 1", BYTES);
    synchronized (off) {
      Thread task =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    read.begin();
                    read.overtake();
                    read.leave();
                    read.end(BYTES);
                    off.avoids("peer 1", () -> "");
                    off.waited(0, 0);
                  });
      assertThat(task.join(Duration.ofSeconds(30))).isTrue();
    }
  }
}
