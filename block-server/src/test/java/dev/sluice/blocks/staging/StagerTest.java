// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.registry.ResolvedOutput;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagerTest {
  private static final int SHUFFLE = 3;
  private static final int MAX_BYTES = Stager.MAX_REQUEST_BYTES;
  private static final long MEMORY_BYTES = 4L * MAX_BYTES;
  private static final int IN_TIME_MS = 60_000;
  private static final NotStaged LATE = new NotStaged(false, "the request has no time left");

  /** Time after which a file without readers may be closed. */
  private static final long FILE_IDLE_NANOS = TimeUnit.SECONDS.toNanos(2);

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final AtomicLong nowNanos = new AtomicLong();
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;
  private Stager stager;
  private byte[] first;
  private byte[] second;
  private volatile Object left;

  /** True if a second passes with each read of a file. */
  private volatile boolean slow;

  @BeforeEach
  void open() throws Exception {
    outputs = new TestMapOutputs(directory);
    first = outputs.write(SHUFFLE, 1, 100, 0, 1_000_000, 2_000_000, 4_890);
    second = outputs.write(SHUFFLE, 2, 30, 40);
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(0, 100, 1_000),
            new RecordingListener(),
            () -> TimeUnit.NANOSECONDS.toMillis(nanoTime()));
    stager = new Stager(domain, registry, MEMORY_BYTES, 2, this::nanoTime, TestTimer.TIMER);
    assertThat(locate(1).isStaged()).isTrue();
    assertThat(locate(2).isStaged()).isTrue();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    stager.close();
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.openFiles()).isZero();
  }

  private long nanoTime() {
    if (slow && StackWalker.getInstance().walk(StagerTest::isOfFiles)) {
      slow = false;
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    }
    return nowNanos.get();
  }

  private static boolean isOfFiles(Stream<StackWalker.StackFrame> callers) {
    return callers.anyMatch(
        caller -> caller.getClassName().equals("dev.sluice.blocks.directory.OpenFiles"));
  }

  private MapOutputHeader locate(long mapId) throws Exception {
    return ResolvedOutput.header(registry, SHUFFLE, mapId);
  }

  private void stage(Object peer, int timeLeftMs, Wanted wanted) {
    stager.stage(peer, () -> !peer.equals(left), wanted.within(timeLeftMs), answers::add);
  }

  private Object answer() throws InterruptedException {
    return answers.poll(10, TimeUnit.SECONDS);
  }

  private Staged staged(Object peer, Wanted wanted) throws InterruptedException {
    stage(peer, IN_TIME_MS, wanted);
    return (Staged) answer();
  }

  /** A request of any peer, as in {@link Stage}. */
  private record Wanted(long position, int maxBytes, Partitions... blocks) {
    Stage within(int timeLeftMs) {
      return new Stage(SHUFFLE, timeLeftMs, List.of(blocks), position, maxBytes);
    }
  }

  /** Bytes [from, to) of the first map output. */
  private static Wanted all(int from, int to) {
    return new Wanted(from, to - from, new Partitions(1, 0, 4));
  }

  /** Bytes [from, to) of the second map output. */
  private static Wanted ofSecond(int from, int to) {
    return new Wanted(from, to - from, new Partitions(2, 0, 2));
  }

  private static Wanted blocks(Partitions... blocks) {
    return new Wanted(0, MAX_BYTES, blocks);
  }

  private static Partitions block(long mapId, int partition) {
    return new Partitions(mapId, partition, partition + 1);
  }

  private byte[] bytes(int from, int to) {
    return Arrays.copyOfRange(first, from, to);
  }

  @Test
  void blocksLieSideBySideInTheOrderOfTheRequest() throws Exception {
    Staged staged =
        staged("a", blocks(block(2, 1), new Partitions(1, 0, 2), block(1, 4), block(2, 0)));
    byte[] read = domain.read(staged.region());
    assertThat(Arrays.copyOf(read, 40)).isEqualTo(Arrays.copyOfRange(second, 30, 70));
    assertThat(Arrays.copyOfRange(read, 40, 140)).isEqualTo(bytes(0, 100));
    assertThat(Arrays.copyOfRange(read, 140, 5_030)).isEqualTo(bytes(3_000_100, 3_004_990));
    assertThat(Arrays.copyOfRange(read, 5_030, 5_060)).isEqualTo(Arrays.copyOf(second, 30));
    assertThat(staged.crc32c()).isEqualTo(Staged.NO_CHECKSUM);
    assertThat(registry.counters().get(RegistryCounter.STAGING_REGIONS)).isEqualTo(1);
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isEqualTo(5_060);
    stager.done("a", staged.leaseId());
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
  }

  /** Its reader has all entries since the first part. */
  @Test
  void theAnswerForAFurtherPartHasOneEntryForTheBlock() throws Exception {
    Staged staged = staged("a", all(100, 150));
    assertThat(domain.read(staged.region())).isEqualTo(bytes(100, 150));
    long[] table = staged.tables().getFirst();
    assertThat(table).hasSize(MapOutputHeader.LONGS + TableEntry.LONGS);
    long entry = table[MapOutputHeader.LONGS];
    assertThat(TableEntry.offset(entry)).isZero();
    assertThat(TableEntry.length(entry, table[MapOutputHeader.LONGS + 1])).isEqualTo(3_000_100);
    stager.done("a", staged.leaseId());
  }

  @Test
  void bytesWithoutSparksChecksumsHaveOneOfOurs() throws Exception {
    Files.delete(outputs.checksums(SHUFFLE, 2));
    registry.invalidate(SHUFFLE, 2);
    assertThat(locate(2).isStaged()).isTrue();
    Staged staged = staged("a", ofSecond(0, 70));
    assertThat(staged.crc32c()).isEqualTo(TestMapOutputs.checksum(second, 0, 70));
  }

  @Test
  void bytesStayAsTheyAreUntilTheirReaderIsDone() throws Exception {
    Staged before = staged("a", all(0, MAX_BYTES));
    for (int i = 0; i < 10; i++) {
      Staged other = staged("b", all(20_000 + i, 20_000 + i + MAX_BYTES));
      assertThat(other.leaseId()).isNotEqualTo(before.leaseId());
      stager.done("b", other.leaseId());
    }
    assertThat(domain.read(before.region())).isEqualTo(bytes(0, MAX_BYTES));
    stager.done("a", before.leaseId());
  }

  @Test
  void aPeerThatHasItsShareWaitsAndAnotherDoesNot() throws Exception {
    Staged greedy = staged("greedy", all(0, MAX_BYTES));
    stage("greedy", IN_TIME_MS, all(0, 1));
    assertThat(staged("modest", all(0, 10))).isNotNull();
    assertThat(answers).isEmpty();
    stager.done("greedy", greedy.leaseId());
    assertThat(answer()).isInstanceOf(Staged.class);
  }

  @Test
  void onlyTheLeasesOwnerEndsIt() throws Exception {
    Staged greedy = staged("greedy", all(0, MAX_BYTES));
    stage("greedy", IN_TIME_MS, all(0, 1));
    stager.done("other", greedy.leaseId());
    stager.done("greedy", greedy.leaseId() + 1_000);
    assertThat(answers.poll(100, TimeUnit.MILLISECONDS)).isNull();
    stager.done("greedy", greedy.leaseId());
    stager.done("greedy", greedy.leaseId());
    assertThat(answer()).isInstanceOf(Staged.class);
  }

  @Test
  void aLeaseThatRunsOutMakesRoom() throws Exception {
    assertThat(staged("gone", all(0, MAX_BYTES)).leaseNanos()).isEqualTo(Leases.NANOS);
    stage("gone", IN_TIME_MS, all(0, MAX_BYTES));
    nowNanos.addAndGet(Leases.NANOS);
    assertThat(answer()).isInstanceOf(Staged.class);
    assertThat(registry.counters().get(RegistryCounter.LEASES_EXPIRED)).isEqualTo(1);
  }

  @Test
  void requestsAdmittedTooLateAreNotReadFromDisk() throws Exception {
    Staged greedy = staged("a", all(0, MAX_BYTES));
    stage("a", 5, all(0, 1));
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(5));
    stager.done("a", greedy.leaseId());
    assertThat(answer()).isEqualTo(LATE);
    assertThat(registry.counters().get(RegistryCounter.STAGED_BYTES)).isEqualTo(MAX_BYTES);
  }

  /** No reader reports that it is done, as when readers pause. */
  @Test
  void requestsThatWaitForTheirShareAreAnsweredInTime() throws Exception {
    Staged greedy = staged("a", all(0, MAX_BYTES));
    stage("a", 1_000, all(0, 1));
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_000));
    assertThat(answer()).isEqualTo(LATE);
    assertThat(registry.counters().get(RegistryCounter.STAGING_WAITS)).isEqualTo(1);
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isEqualTo(MAX_BYTES);
    stager.done("a", greedy.leaseId());
    assertThat(staged("a", all(0, MAX_BYTES))).isNotNull();
  }

  /** Requests are checked in no fixed order. */
  @Test
  void waitingRequestsAreAnsweredInTimeEvenIfAnsweringOthersFails() throws Exception {
    staged("a", all(0, MAX_BYTES));
    Stage one = all(0, 1).within(1_000);
    for (int i = 0; i < 10; i++) {
      stager.stage("a", StagerTest::fail, one, _ -> {});
      stager.stage("a", () -> true, one, _ -> fail());
      stager.stage("a", () -> true, one, answers::add);
    }
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_000));
    for (int i = 0; i < 10; i++) {
      assertThat(answer()).isEqualTo(LATE);
    }
  }

  private static boolean fail() {
    throw new IllegalStateException("of the test");
  }

  @Test
  void requestsThatWaitForMemoryAreAnsweredInTime() throws Exception {
    Staged first = staged("0", all(0, MAX_BYTES));
    for (int peer = 1; peer < MEMORY_BYTES / MAX_BYTES; peer++) {
      assertThat(staged(peer, all(0, MAX_BYTES))).isNotNull();
    }
    stage("late", 1_000, all(0, 1));
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_000));
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    stager.done("0", first.leaseId());
    assertThat(staged("late", all(0, MAX_BYTES))).isNotNull();
  }

  /** Leases have all memory: two requests of a directory wait for it, a third one for admission. */
  @Test
  void waitingForATurnAndThenForMemoryCountsOnce() throws Exception {
    List<Staged> leases = new ArrayList<>();
    for (int peer = 0; peer < MEMORY_BYTES / MAX_BYTES; peer++) {
      leases.add(staged(peer, all(0, MAX_BYTES)));
    }
    for (int peer = 10; peer < 13; peer++) {
      stage(peer, IN_TIME_MS, all(0, MAX_BYTES));
    }
    while (registry.counters().get(RegistryCounter.STAGING_WAITS) < 3) {
      Thread.onSpinWait();
    }
    for (int peer = 0; peer < 3; peer++) {
      stager.done(peer, leases.get(peer).leaseId());
      assertThat(answer()).isInstanceOf(Staged.class);
    }
    assertThat(registry.counters().get(RegistryCounter.STAGING_WAITS)).isEqualTo(3);
  }

  @Test
  void memoryIsRegisteredByNoThreadOfTheTransport() throws Exception {
    BlockingQueue<String> registering = new LinkedBlockingQueue<>();
    domain.whenRegistering(() -> registering.add(Thread.currentThread().getName()));
    Staged first = staged("a", all(0, MAX_BYTES));
    stage("a", IN_TIME_MS, all(0, MAX_BYTES));
    assertThat(staged("b", all(0, MAX_BYTES))).isNotNull();
    stager.done("a", first.leaseId());
    assertThat(answer()).isInstanceOf(Staged.class);
    assertThat(registering).hasSizeBetween(2, 3).containsOnly("sluice-stage");
  }

  @Test
  void mapOutputsUnregisteredDuringTheWaitAreStale() throws Exception {
    Staged lease = staged("a", all(0, MAX_BYTES));
    stage("a", IN_TIME_MS, all(0, 1));
    outputs.delete(SHUFFLE, 1);
    registry.unregister(SHUFFLE);
    stager.done("a", lease.leaseId());
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && not.stale());
  }

  /** The same place in another file has other bytes. */
  @Test
  void mapOutputsReplacedDuringTheWaitAreStale() throws Exception {
    Staged lease = staged("a", all(0, MAX_BYTES));
    stage("a", IN_TIME_MS, all(0, 1));
    registry.invalidate(SHUFFLE, 1);
    assertThat(locate(1).isStaged()).isTrue();
    stager.done("a", lease.leaseId());
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && not.stale());
  }

  @Test
  void timeIsThatOfTheServerFromReceiptToAnswer() throws Exception {
    Staged greedy = staged("a", all(0, MAX_BYTES));
    stage("a", IN_TIME_MS, all(0, 1));
    nowNanos.addAndGet(1_000_000);
    stager.done("a", greedy.leaseId());
    assertThat(((Staged) answer()).tookNanos()).isEqualTo(1_000_000);
  }

  private void assertRefused(Wanted wanted) throws InterruptedException {
    stage("a", IN_TIME_MS, wanted);
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
  }

  @Test
  void requestsForTooMuchAreRefused() throws Exception {
    Partitions[] many = new Partitions[ControlMessages.MAX_BLOCKS + 1];
    Arrays.fill(many, block(1, 0));
    assertRefused(blocks(many));
    assertRefused(blocks(new Partitions(1, 0, ControlMessages.MAX_ENTRIES), block(1, 0)));
    assertRefused(blocks(new Partitions(1, 0, ControlMessages.MAX_ENTRIES_ALONE + 1)));
    assertRefused(blocks(new Partitions(1, Integer.MIN_VALUE, Integer.MAX_VALUE), block(1, 0)));
    assertRefused(all(0, -1));
    assertRefused(all(-1, 1));
    assertRefused(new Wanted(1, 1, block(1, 0), block(1, 2)));
  }

  @Test
  void aRequestForNoBytesIsAnsweredWithTheLengthsAlone() throws Exception {
    Staged tables = staged("a", all(0, 0));
    assertThat(tables.region().length()).isZero();
    assertThat(isTable(tables)).containsExactly(true);
    assertThat(MapOutputHeader.of(1, tables.tables().getFirst(), 0)).isEqualTo(locate(1));
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
  }

  private static boolean[] isTable(Staged staged) {
    boolean[] is = new boolean[staged.tables().size()];
    for (int i = 0; i < is.length; i++) {
      is[i] = Staged.isTable(staged.tables().get(i));
    }
    return is;
  }

  private void done(Staged staged) {
    stager.done("a", staged.leaseId());
  }

  @Test
  void theAnswerHasEntriesAsAReadOfATableWouldReturnThem() throws Exception {
    Staged staged = staged("a", blocks(new Partitions(2, 0, 2), block(1, 2)));
    long[] table = staged.tables().getFirst();
    MapOutputHeader header = MapOutputHeader.of(2, table, 0);
    assertThat(header.isStaged()).isTrue();
    assertThat(header.data().length()).isEqualTo(70);
    assertThat(header.checksumAlgorithm()).isEqualTo(ChecksumAlgorithm.CRC32C);
    assertThat(table).hasSize(MapOutputHeader.LONGS + 4);
    assertThat(TableEntry.offset(table[6])).isEqualTo(30);
    assertThat(TableEntry.length(table[6], table[7])).isEqualTo(40);
    assertThat(TableEntry.checksum(table[7])).isEqualTo(TestMapOutputs.checksum(second, 30, 40));
    assertThat(TableEntry.offset(staged.tables().getLast()[4])).isEqualTo(100);
    done(staged);
  }

  @Test
  void aCopyEndsBeforeTheFirstBlockThatDoesNotFit() throws Exception {
    Staged staged = staged("a", blocks(block(2, 0), block(1, 2), block(1, 3), block(2, 1)));
    assertThat(isTable(staged)).containsOnly(true).hasSize(4);
    assertThat(staged.region().length()).isEqualTo(30 + 1_000_000);
    done(staged);

    Staged few = staged("a", new Wanted(0, 50, block(2, 0), block(2, 1), block(1, 0)));
    assertThat(domain.read(few.region())).isEqualTo(Arrays.copyOf(second, 30));
    done(few);
  }

  @Test
  void blocksOfWhichNoneFitsComeWithTheirLengthsAlone() throws Exception {
    Staged staged = staged("a", new Wanted(0, 50, block(1, 0), block(2, 0)));
    assertThat(isTable(staged)).containsExactly(true, true);
    assertThat(staged.region().length()).isZero();
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
  }

  @Test
  void aSingleBlockComesInParts() throws Exception {
    Staged begin = staged("a", blocks(block(1, 3)));
    assertThat(domain.read(begin.region())).isEqualTo(bytes(1_000_100, 1_000_100 + MAX_BYTES));
    done(begin);
    Staged end = staged("a", new Wanted(MAX_BYTES, MAX_BYTES, block(1, 3)));
    assertThat(domain.read(end.region())).isEqualTo(bytes(1_000_100 + MAX_BYTES, 3_000_100));
    done(end);
    assertThat(staged("a", new Wanted(2_000_000, 1, block(1, 3))).region().length()).isZero();
  }

  @Test
  void emptyBlocksTakeNoMemory() throws Exception {
    Staged staged = staged("a", blocks(block(1, 1), block(1, 1)));
    assertThat(isTable(staged)).containsExactly(true, true);
    assertThat(staged.region().length()).isZero();
    assertThat(domain.openRegions()).isZero();
  }

  @Test
  void blocksThatThereAreNotAreStaleAndOthersAreStaged() throws Exception {
    Staged staged =
        staged(
            "a",
            blocks(
                block(9, 0),
                new Partitions(2, 1, 3),
                new Partitions(2, -1, 1),
                new Partitions(2, 1, 1),
                new Partitions(2, Integer.MAX_VALUE, Integer.MIN_VALUE),
                block(2, 1)));
    assertThat(staged.tables().subList(0, 5)).containsOnly(Staged.STALE);
    assertThat(domain.read(staged.region())).isEqualTo(Arrays.copyOfRange(second, 30, 70));
    done(staged);
  }

  @Test
  void aMapOutputWhoseIndexIsGoneOrChangedIsStale() throws Exception {
    Files.write(outputs.index(SHUFFLE, 1), new byte[3]);
    Files.delete(outputs.index(SHUFFLE, 2));
    Staged staged = staged("a", blocks(block(1, 0), block(2, 0)));
    assertThat(staged.tables()).containsOnly(Staged.STALE);
    assertThat(staged.region().length()).isZero();
  }

  /** The same as when no file descriptor is left. */
  @Test
  void aMapOutputWhoseIndexCannotBeReadIsNotStale() throws Exception {
    Files.delete(outputs.index(SHUFFLE, 1));
    Files.createDirectory(outputs.index(SHUFFLE, 1));
    Staged staged = staged("a", blocks(block(1, 0), block(2, 0)));
    assertThat(staged.tables().getFirst()).isEqualTo(Staged.UNREADABLE);
    assertThat(domain.read(staged.region())).isEqualTo(Arrays.copyOf(second, 30));
    done(staged);
  }

  @Test
  void aRegisteredMapOutputIsStagedAsWell() throws Exception {
    try (MapOutputRegistry registered =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(8 << 20, 100, 1_000),
            new RecordingListener(),
            () -> 0)) {
      MapOutputHeader header = ResolvedOutput.header(registered, SHUFFLE, 2);
      assertThat(header.isStaged()).isFalse();
      try (Stager other =
          new Stager(domain, registered, MEMORY_BYTES, 2, this::nanoTime, TestTimer.TIMER)) {
        other.stage("a", () -> true, ofSecond(0, 70).within(IN_TIME_MS), answers::add);
        Staged staged = (Staged) answer();
        assertThat(MapOutputHeader.of(2, staged.tables().getFirst(), 0)).isEqualTo(header);
        assertThat(domain.read(staged.region())).isEqualTo(second);
      }
    }
  }

  @Test
  void aFileThatHasBecomeShorterOrIsGoneIsRefusedAndHoldsNothing() throws Exception {
    try (FileChannel file = FileChannel.open(outputs.data(SHUFFLE, 1), StandardOpenOption.WRITE)) {
      file.truncate(1_000);
    }
    Files.delete(outputs.data(SHUFFLE, 2));
    for (int i = 0; i < 20; i++) {
      stage("a", IN_TIME_MS, all(0, MAX_BYTES));
      assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
      stage("a", IN_TIME_MS, ofSecond(0, 1));
      assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    }
    assertThat(staged("a", all(0, 1_000))).isNotNull();
  }

  @Test
  void aFileWithoutReadersIsClosed() throws Exception {
    stager.done("a", staged("a", all(0, 10)).leaseId());
    assertThat(outputs.openFiles()).isEqualTo(1);
    nowNanos.addAndGet(FILE_IDLE_NANOS);
    awaitNoFiles();
  }

  @Test
  void bytesBehindSmallBlocksAreReadAhead() throws Exception {
    stager.done("a", staged("a", all(0, 1_000)).leaseId());
    try (FileChannel file = FileChannel.open(outputs.data(SHUFFLE, 1), StandardOpenOption.WRITE)) {
      file.truncate(1_000);
    }
    Staged behind = staged("a", all(1_000, 2_000));
    assertThat(domain.read(behind.region())).isEqualTo(bytes(1_000, 2_000));
    stage("a", IN_TIME_MS, all(1_000, 2_000));
    assertThat(answer()).as("second request for the same bytes").isInstanceOf(NotStaged.class);
  }

  private void awaitNoFiles() throws Exception {
    for (int i = 0; i < 100 && outputs.openFiles() > 0; i++) {
      Thread.sleep(100);
    }
    assertThat(outputs.openFiles()).isZero();
  }

  @Test
  void filesOfARequestThatFailsAreClosedToo() throws Exception {
    Files.delete(outputs.data(SHUFFLE, 2));
    stage("a", IN_TIME_MS, blocks(block(1, 0), block(2, 0)));
    assertThat(answer()).isInstanceOf(NotStaged.class);
    nowNanos.addAndGet(FILE_IDLE_NANOS);
    awaitNoFiles();
  }

  @Test
  void peersThatLeftGetNoLease() throws Exception {
    slow = true;
    stage("a", 1_000, all(0, MAX_BYTES));
    assertThat(answer()).isEqualTo(LATE);
    assertThat(staged("a", all(0, MAX_BYTES))).isNotNull();
  }

  /** The second file is missing, but it is never opened. */
  @Test
  void requestsThatBecomeLateAreNotReadToTheEnd() throws Exception {
    Files.delete(outputs.data(SHUFFLE, 2));
    slow = true;
    stage("a", 1_000, blocks(block(1, 0), block(2, 0)));
    assertThat(answer()).isEqualTo(LATE);
  }

  @Test
  void nothingIsCopiedForAPeerThatHasLeft() throws Exception {
    Staged lease = staged("dead", all(0, MAX_BYTES));
    stage("dead", IN_TIME_MS, all(0, MAX_BYTES));
    left = "dead";
    stager.done("dead", lease.leaseId());
    assertThat(answer()).isInstanceOf(NotStaged.class);
    assertThat(registry.counters().get(RegistryCounter.STAGED_BYTES)).isEqualTo(MAX_BYTES);
  }

  @Test
  void closingAnswersWaitingRequests() throws Exception {
    staged("a", all(0, MAX_BYTES));
    stage("a", IN_TIME_MS, all(0, 1));
    stager.close();
    assertThat(answer()).isInstanceOf(NotStaged.class);
  }
}
