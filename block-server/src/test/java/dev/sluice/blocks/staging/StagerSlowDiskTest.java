// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static dev.sluice.blocks.registry.TwoDisks.FAST;
import static dev.sluice.blocks.registry.TwoDisks.SHUFFLE;
import static dev.sluice.blocks.registry.TwoDisks.SLOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.SlowFile;
import dev.sluice.blocks.registry.TwoDisks;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two local directories: the disk of one does not answer, the other does. */
@Timeout(60)
class StagerSlowDiskTest {
  private static final int MAX_BYTES = Stager.MAX_REQUEST_BYTES;
  private static final int IN_TIME_MS = 60_000;

  @TempDir Path slowDirectory;
  @TempDir Path fastDirectory;
  private final AtomicLong nowNanos = new AtomicLong();
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private TwoDisks disks;
  private Stager stager;
  private SlowFile disk;

  @BeforeEach
  void open() throws Exception {
    int[] bytes = {2 * MAX_BYTES, 1_000};
    disks = new TwoDisks(slowDirectory, bytes, fastDirectory, bytes);
    stager =
        new Stager(disks.domain, disks.registry, 4L * MAX_BYTES, 4, nowNanos::get, TestTimer.TIMER);
    disk = SlowFile.inPlaceOf(disks.slow.data(SHUFFLE, SLOW));
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    disk.close();
    stager.close();
    assertThat(disks.registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
    disks.close();
    assertThat(disks.domain.openRegions()).isZero();
    assertThat(disks.slow.openFiles() + disks.fast.openFiles()).isZero();
  }

  /** Asks for a part of one block. */
  private void stage(Object peer, int timeLeftMs, long mapId, long position, int bytes) {
    List<Partitions> block = List.of(new Partitions(mapId, 0, 1));
    Stage stage = new Stage(SHUFFLE, timeLeftMs, block, position, bytes);
    stager.stage(peer, () -> true, stage, answers::add);
  }

  /** Asks for a small block of each directory. */
  private void stageBoth(Object peer) {
    List<Partitions> both = List.of(new Partitions(FAST, 1, 2), new Partitions(SLOW, 1, 2));
    Stage stage = new Stage(SHUFFLE, IN_TIME_MS, both, 0, MAX_BYTES);
    stager.stage(peer, () -> true, stage, answers::add);
  }

  private Object answer() throws InterruptedException {
    return answers.poll(10, TimeUnit.SECONDS);
  }

  private void stageFastOnes() throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      stage("fast", IN_TIME_MS, FAST, i, MAX_BYTES);
      Object answer = answer();
      assertThat(answer).isInstanceOf(Staged.class);
      stager.done("fast", ((Staged) answer).leaseId());
    }
  }

  @Test
  void aDiskThatHangsHoldsUpNoOther() throws Exception {
    for (int peer = 0; peer < 20; peer++) {
      stage(peer, IN_TIME_MS, SLOW, 0, MAX_BYTES);
    }
    stageFastOnes();
    assertThat(answers).isEmpty();
  }

  @Test
  void aRequestOfManyDirectoriesHoldsUpOnlyThoseOfTheSlowOne() throws Exception {
    for (int peer = 0; peer < 20; peer++) {
      stageBoth(peer);
    }
    stageFastOnes();
    assertThat(answers).isEmpty();
  }

  @Test
  void aPeerThatWaitsForTheSlowDiskIsServedFromTheOther() throws Exception {
    for (int i = 0; i < 20; i++) {
      stage("fast", IN_TIME_MS, SLOW, i, 1);
    }
    for (int i = 0; i < 10; i++) {
      stage("fast", IN_TIME_MS, FAST, i, 1_000);
      assertThat(answer()).isInstanceOf(Staged.class);
    }
  }

  /** One of its requests takes the whole share. */
  @Test
  void aPeerWhoseShareTheSlowDiskTakesIsServedFromTheOther() throws Exception {
    for (int round = 1; round <= 2; round++) {
      stage("fast", 1_000, SLOW, 0, MAX_BYTES);
      SlowFile.awaitReaders(round);
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      assertThat(answer()).isInstanceOf(NotStaged.class);
    }
    stageFastOnes();
  }

  private static void assertUnreadable(Object answer, int block, int staged) {
    assertThat(answer).isInstanceOf(Staged.class);
    assertThat(((Staged) answer).tables().get(block)).isEqualTo(Staged.UNREADABLE);
    assertThat(((Staged) answer).region().length()).isEqualTo(staged);
  }

  /**
   * @param others threads that read from the disk already
   */
  private void keepsAReaderInVain(int others) throws Exception {
    stage("first", 1_000, SLOW, 0, 1_000);
    SlowFile.awaitReaders(others + 1);
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(answer()).isInstanceOf(NotStaged.class);
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
  }

  @Test
  void aDiskThatHangsIsNotWaitedFor() throws Exception {
    stage("waiting", IN_TIME_MS, SLOW, 0, 1_000);
    SlowFile.awaitReaders(1);
    keepsAReaderInVain(1);
    assertUnreadable(answer(), 0, 0);
    stage("second", IN_TIME_MS, SLOW, 0, 1_000);
    assertUnreadable(answers.poll(), 0, 0);
    stageFastOnes();
  }

  @Test
  void blocksOfOtherDisksAreStagedWithoutTheDiskThatHangs() throws Exception {
    keepsAReaderInVain(0);
    stageBoth("second");
    assertUnreadable(answer(), 1, 1_000);
  }

  @Test
  void aDiskThatAnswersAgainIsWaitedFor() throws Exception {
    keepsAReaderInVain(0);
    disk.answer();
    while (SlowFile.readers() > 0) {
      Thread.onSpinWait();
    }
    Object answer;
    do {
      stage("second", IN_TIME_MS, SLOW, 0, 1_000);
      answer = answer();
    } while (answer instanceof Staged);
    assertThat(answer).as("an error of the file, which is a pipe").isInstanceOf(NotStaged.class);
  }

  @Test
  void requestsThatWaitForTheDiskAreAnsweredInTime() throws Exception {
    for (int peer = 0; peer < 20; peer++) {
      stage(peer, 1_000, SLOW, 0, MAX_BYTES);
    }
    SlowFile.awaitReaders(1);
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    for (int peer = 0; peer < 20; peer++) {
      assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    }
    disk.answer();
    assertThat(answers.poll(100, TimeUnit.MILLISECONDS)).as("a second answer").isNull();
  }

  @Test
  void readsUnderWayAtTheCloseReleaseTheirMemory() throws Exception {
    stage("a", IN_TIME_MS, SLOW, 0, 1);
    SlowFile.awaitReaders(1);
    Thread.currentThread().interrupt(); // close() does not wait then.
    stager.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(answers).hasSize(1);
  }
}
