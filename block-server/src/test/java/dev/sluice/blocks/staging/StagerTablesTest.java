// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static dev.sluice.blocks.registry.TwoDisks.FAST;
import static dev.sluice.blocks.registry.TwoDisks.SHUFFLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.SlowFile;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.TwoDisks;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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

/**
 * Map outputs whose files are on two disks, of which one may hang. Spark's DiskBlockManager chooses
 * each file's directory by the hash of its own name.
 */
@Timeout(60)
class StagerTablesTest {
  private static final int IN_TIME_MS = 60_000;

  /** Map output with its index on the disk that hangs. */
  private static final long INDEX = 7;

  /** Map output with its checksums on the disk that hangs. */
  private static final long CHECKSUMS = 8;

  @TempDir Path slowDirectory;
  @TempDir Path fastDirectory;
  private final AtomicLong nowNanos = new AtomicLong();
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private Path index;
  private Path checksums;
  private TwoDisks disks;
  private MapOutputRegistry registry;
  private Stager stager;

  @BeforeEach
  void open() throws Exception {
    disks = new TwoDisks(slowDirectory, new int[] {10}, fastDirectory, new int[] {5, 6});
    disks.fast.write(SHUFFLE, INDEX, 20, 30);
    disks.fast.write(SHUFFLE, CHECKSUMS, 20, 30);
    index = moved(disks.fast.index(SHUFFLE, INDEX));
    checksums = moved(disks.fast.checksums(SHUFFLE, CHECKSUMS));
    registry = disks.registry(disks.directories, this::find, TwoDisks.NONE_REGISTERED);
    registry.resolve(SHUFFLE, new long[] {FAST, INDEX, CHECKSUMS}).get(10, TimeUnit.SECONDS);
    stager = new Stager(disks.domain, registry, 4 << 20, 4, nowNanos::get, TestTimer.TIMER);
  }

  private Path moved(Path file) throws Exception {
    return Files.move(file, slowDirectory.resolve(file.getFileName()));
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) throws IOException {
    MapOutputFiles.Files among = disks.fast.find(shuffleId, FAST);
    return new MapOutputFiles.Files(
        disks.fast.data(shuffleId, mapId),
        mapId == INDEX ? index : disks.fast.index(shuffleId, mapId),
        mapId == CHECKSUMS ? checksums : disks.fast.checksums(shuffleId, mapId),
        among.checksumAlgorithm());
  }

  @AfterEach
  void nothingIsLeft() {
    stager.close();
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
    registry.close();
    disks.close();
    assertThat(disks.domain.openRegions()).isZero();
  }

  /** Asks for the first partitions of map outputs. */
  private void stage(int timeLeftMs, long... mapIds) {
    List<Partitions> wanted =
        Arrays.stream(mapIds).mapToObj(id -> new Partitions(id, 0, 1)).toList();
    Stage stage = new Stage(SHUFFLE, timeLeftMs, wanted, 0, 1 << 20);
    stager.stage("peer", () -> true, stage, answers::add);
  }

  private Object answer() throws InterruptedException {
    return answers.poll(10, TimeUnit.SECONDS);
  }

  /** Asserts that the answer has only the first partition of the fast map output. */
  private void assertThatOnlyFastIsStaged(Object answer) {
    assertThat(answer).isInstanceOf(Staged.class);
    Staged staged = (Staged) answer;
    assertThat(staged.tables().getFirst()).isEqualTo(Staged.UNREADABLE);
    assertThat(Staged.isTable(staged.tables().getLast())).isTrue();
    assertThat(staged.region().length()).isEqualTo(5);
    stager.done("peer", staged.leaseId());
  }

  private Staged staged(long... mapIds) throws InterruptedException {
    stage(IN_TIME_MS, mapIds);
    Staged staged = (Staged) answer();
    stager.done("peer", staged.leaseId());
    return staged;
  }

  @Test
  void filesOfATableMayLieOnSeveralDisks() throws Exception {
    Staged staged = staged(INDEX, CHECKSUMS, FAST);
    assertThat(staged.tables()).allMatch(Staged::isTable);
    assertThat(staged.region().length()).isEqualTo(20 + 20 + 5);
    assertThat(staged.crc32c()).isEqualTo(Staged.NO_CHECKSUM);
  }

  @Test
  void aTableInMemoryWaitsForNoDisk() throws Exception {
    staged(INDEX, CHECKSUMS);
    try (SlowFile _ = SlowFile.inPlaceOf(index);
        SlowFile _ = SlowFile.inPlaceOf(checksums)) {
      assertThat(staged(INDEX, CHECKSUMS).region().length()).isEqualTo(40);
    }
  }

  private void hangs(long mapId, Path file) throws Exception {
    try (SlowFile _ = SlowFile.inPlaceOf(file)) {
      stage(1_000, mapId);
      SlowFile.awaitReaders(1);
      stage(IN_TIME_MS, mapId, FAST);
      SlowFile.awaitReaders(2);
      assertThat(staged(FAST).region().length()).as("other disks are not held up").isEqualTo(5);
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      assertThat(answer()).as("in time").isInstanceOf(NotStaged.class);
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(5));
      assertThatOnlyFastIsStaged(answer());
      stage(IN_TIME_MS, mapId, FAST);
      assertThatOnlyFastIsStaged(answer());
      assertThat(answers).isEmpty();
    }
    while (SlowFile.readers() > 0) {
      Thread.onSpinWait();
    }
    Staged later;
    do {
      later = staged(mapId, FAST);
    } while (later.tables().getFirst().length == Staged.UNREADABLE.length);
    assertThat(later.tables().getFirst()).as("its file is gone").isEqualTo(Staged.STALE);
  }

  @Test
  void anIndexOnADiskThatHangsFailsItsMapOutputAlone() throws Exception {
    hangs(INDEX, index);
  }

  @Test
  void checksumsOnADiskThatHangsFailTheirMapOutputAlone() throws Exception {
    hangs(CHECKSUMS, checksums);
  }

  @Test
  void anIndexThatIsGoneWhileTheChecksumsHangFailsItsMapOutputAlone() throws Exception {
    Files.delete(disks.fast.index(SHUFFLE, CHECKSUMS));
    hangs(CHECKSUMS, checksums);
  }

  @Test
  void manyRequestsThatWaitForATableAreAnsweredInTimeAndOnce() throws Exception {
    try (SlowFile _ = SlowFile.inPlaceOf(index)) {
      for (int i = 0; i < 20; i++) {
        stage(1_000, INDEX);
      }
      SlowFile.awaitReaders(1);
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      for (int i = 0; i < 20; i++) {
        assertThat(answer()).isInstanceOf(NotStaged.class);
      }
    }
    assertThat(answers.poll(100, TimeUnit.MILLISECONDS)).as("a second answer").isNull();
    assertThat(staged(FAST).region().length()).isEqualTo(5);
  }

  @Test
  void tablesThatAreNotReadInHalfOfTheTimeCostTheirOwnBlocks() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(index)) {
      stage(IN_TIME_MS, INDEX, CHECKSUMS, FAST);
      SlowFile.awaitReaders(1);
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
      disk.answer();
      Staged staged = (Staged) answer();
      assertThat(staged.tables().get(1)).isEqualTo(Staged.UNREADABLE);
      assertThat(staged.region().length()).isEqualTo(5);
      stager.done("peer", staged.leaseId());
    }
    while (registry.counters().get(RegistryCounter.STAGING_REFUSALS) == 0) {
      Thread.onSpinWait(); // It is counted after the answer.
    }
  }

  @Test
  void mapOutputsThatAreReplacedWhileATableIsReadAreStale() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(index)) {
      stage(IN_TIME_MS, INDEX, FAST);
      SlowFile.awaitReaders(1);
      registry.invalidate(SHUFFLE, FAST);
      disk.answer();
      assertThat(answer()).matches(answer -> answer instanceof NotStaged not && not.stale());
    }
  }

  @Test
  void closingAnswersRequestsThatWaitForATable() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(index)) {
      for (int i = 0; i < 5; i++) {
        stage(IN_TIME_MS, INDEX);
      }
      SlowFile.awaitReaders(1);
      Thread.currentThread().interrupt(); // close() does not wait then.
      stager.close();
      assertThat(Thread.interrupted()).isTrue();
      for (int i = 0; i < 5; i++) {
        assertThat(answer()).isInstanceOf(NotStaged.class);
      }
      disk.answer();
    }
    assertThat(answers.poll(100, TimeUnit.MILLISECONDS)).isNull();
  }
}
