// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static dev.sluice.blocks.TwoDisks.FAST;
import static dev.sluice.blocks.TwoDisks.SHUFFLE;
import static dev.sluice.blocks.TwoDisks.SLOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.ResolvedOutput;
import dev.sluice.blocks.SlowFile;
import dev.sluice.blocks.TestMapOutputs;
import dev.sluice.blocks.TwoDisks;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Tables;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tables of map outputs in two local directories, one of which may not answer. */
@Timeout(60)
class TableServerTest {
  private static final int IN_TIME_MS = 60_000;

  /** Map output with its checksums on the disk that hangs, and its index on the other. */
  private static final long MIRROR = 15;

  private static final long HEALTHY = 16;
  private static final NotStaged STOPS = new NotStaged(false, "the block server is stopping");

  @TempDir Path slowDirectory;
  @TempDir Path fastDirectory;
  private final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  private TwoDisks disks;
  private TestMapOutputs slow;
  private TestMapOutputs fast;
  private MapOutputRegistry registry;
  private TableServer server;
  private volatile boolean left;

  @BeforeEach
  void open() throws Exception {
    disks =
        new TwoDisks(slowDirectory, new int[] {10, 0, 30}, fastDirectory, new int[] {5, 6, 7, 8});
    slow = disks.slow;
    fast = disks.fast;
    registry = disks.registry;
    server = new TableServer(registry);
  }

  @AfterEach
  void close() {
    server.close();
    registry.close();
    disks.close();
  }

  private void ask(int timeLeftMs, Partitions... wanted) {
    ask("peer", timeLeftMs, wanted);
  }

  private void ask(Object peer, int timeLeftMs, Partitions... wanted) {
    GetTables question = new GetTables(SHUFFLE, timeLeftMs, List.of(wanted));
    server.get(peer, () -> !left, question, answers::add);
  }

  private Object answer() throws InterruptedException {
    return answers.poll(10, TimeUnit.SECONDS);
  }

  private List<long[]> tables(Partitions... wanted) throws InterruptedException {
    ask(IN_TIME_MS, wanted);
    return ((Tables) answer()).tables();
  }

  private static Partitions fast() {
    return new Partitions(FAST, 0, 1);
  }

  private static Partitions slow() {
    return new Partitions(SLOW, 0, 1);
  }

  @Test
  void entriesComeAsAReadOfATableWouldHaveGivenThem() throws Exception {
    List<long[]> tables = tables(new Partitions(FAST, 1, 3), new Partitions(SLOW, 2, 3));

    long[] first = tables.getFirst();
    MapOutputHeader header = MapOutputHeader.of(FAST, first, 0);
    assertThat(header.isStaged()).isTrue();
    assertThat(header.data().length()).isEqualTo(26);
    assertThat(header.checksumAlgorithm()).isEqualTo(ChecksumAlgorithm.CRC32C);
    assertThat(first).hasSize(MapOutputHeader.LONGS + 4);
    assertThat(TableEntry.offset(first[4])).isEqualTo(5);
    assertThat(TableEntry.length(first[4], first[5])).isEqualTo(6);
    assertThat(TableEntry.offset(first[6])).isEqualTo(11);
    assertThat(TableEntry.length(first[6], first[7])).isEqualTo(7);
    assertThat(TableEntry.offset(tables.getLast()[4])).isEqualTo(10);
    assertThat(MapOutputHeader.of(SLOW, tables.getLast(), 0)).isNotNull();
  }

  @Test
  void missingTablesAreStale() throws Exception {
    List<long[]> tables =
        tables(
            new Partitions(9, 0, 1),
            new Partitions(FAST, 0, 5),
            new Partitions(FAST, -1, 1),
            new Partitions(FAST, 2, 2),
            new Partitions(FAST, Integer.MAX_VALUE, Integer.MIN_VALUE),
            fast());
    assertThat(tables.subList(0, 5)).allMatch(table -> table.length == 0);
    assertThat(tables.getLast()).isNotEmpty();
    assertThat(tables(new Partitions(9, 0, 1)).getFirst()).isEmpty();
    assertThat(tables()).isEmpty();
  }

  @Test
  void aFileThatIsGoneMakesItsOwnTableStale() throws Exception {
    Files.delete(slow.index(SHUFFLE, SLOW));
    List<long[]> tables = tables(slow(), fast());
    assertThat(tables.getFirst()).isEmpty();
    assertThat(tables.getLast()).isNotEmpty();
  }

  /** The same as when no file descriptor is left. */
  @Test
  void aFileThatCannotBeReadIsNotStale() throws Exception {
    Files.delete(slow.index(SHUFFLE, SLOW));
    Files.createDirectory(slow.index(SHUFFLE, SLOW));
    List<long[]> tables = tables(slow(), fast());
    assertThat(tables.getFirst()).isEqualTo(Tables.UNREADABLE);
    assertThat(tables.getLast()).hasSizeGreaterThan(1);
  }

  @Test
  void aFileOfAnotherSizeMakesItsOwnTableStale() throws Exception {
    Files.write(slow.index(SHUFFLE, SLOW), new byte[3]);
    List<long[]> tables = tables(slow(), fast());
    assertThat(tables.getFirst()).isEmpty();
    assertThat(tables.getLast()).isNotEmpty();
  }

  @Test
  void tablesOfUnregisteredMapOutputsAreStale() throws Exception {
    registry.invalidate(SHUFFLE, FAST);
    assertThat(tables(fast()).getFirst()).isEmpty();
    registry.unregister(SHUFFLE);
    assertThat(tables(slow()).getFirst()).isEmpty();
  }

  @Test
  void tablesReplacedDuringTheReadAreStale() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      ask(IN_TIME_MS, slow(), fast());
      SlowFile.awaitReaders(1);
      registry.invalidate(SHUFFLE, FAST);
      disk.answer();
      assertThat(((Tables) answer()).tables()).allMatch(table -> table.length == 0);
    }
  }

  @Test
  void aDiskThatHangsHoldsUpNoOther() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      for (int i = 0; i < 20; i++) {
        ask(IN_TIME_MS, fast(), slow());
      }
      for (int i = 0; i < 20; i++) {
        assertThat(tables(fast()).getFirst()).isNotEmpty();
      }
      disk.answer();
    }
    for (int i = 0; i < 20; i++) {
      assertThat(answer()).isInstanceOf(Tables.class);
    }
  }

  @Test
  void tablesOfOtherDisksAreAnsweredWithoutTheDiskThatHangs() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      ask(2_000, slow(), fast());
      assertThatOnlyFastIsRead(answer());
      ask(IN_TIME_MS, slow(), fast());
      assertThatOnlyFastIsRead(answer());
      disk.answer();
    }
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (Arrays.equals(tables(slow(), fast()).getFirst(), Tables.UNREADABLE)) {
      assertThat(System.nanoTime()).as("the disk is not asked again").isLessThan(deadlineNanos);
    }
  }

  /** Their tasks have waited for another resource until then. */
  @Test
  void questionsWithLittleTimeDetectADiskThatHangs() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      ask(200, slow());
      assertThat(answer()).isEqualTo(TableQuestion.LATE);
      TimeUnit.SECONDS.sleep(1);
      ask(IN_TIME_MS, slow(), fast());
      assertThatOnlyFastIsRead(answer());
      disk.answer();
    }
  }

  private static void assertThatOnlyFastIsRead(Object answer) {
    assertThat(answer).isInstanceOf(Tables.class);
    List<long[]> tables = ((Tables) answer).tables();
    assertThat(tables.getFirst()).isEqualTo(Tables.UNREADABLE);
    assertThat(MapOutputHeader.of(FAST, tables.getLast(), 0)).isNotNull();
  }

  @Test
  void questionsThatWaitForADiskAreAnsweredInTimeAndOnce() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      for (int i = 0; i < 20; i++) {
        ask(200, slow());
      }
      for (int i = 0; i < 20; i++) {
        assertThat(answer()).isEqualTo(TableQuestion.LATE);
      }
      disk.answer();
    }
    assertThat(answers.poll(100, TimeUnit.MILLISECONDS)).as("a second answer").isNull();
  }

  @Test
  void questionsBeyondAPeersShareAreRefusedAndOthersAnswered() throws Exception {
    Partitions[] many = Collections.nCopies(4_000, slow()).toArray(Partitions[]::new);
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      for (int i = 0; i < 10; i++) {
        ask("greedy", 2_000, many);
      }
      for (int i = 0; i < 8; i++) {
        assertThat(answer())
            .isEqualTo(new NotStaged(false, "too many requests for partition tables are waiting"));
      }
      ask("other", IN_TIME_MS, fast());
      assertThat(List.of(answer(), answer(), answer()))
          .contains(TableQuestion.LATE)
          .filteredOn(Tables.class::isInstance)
          .hasSize(1);
      ask("greedy", IN_TIME_MS, fast());
      assertThat(answer()).as("the queue has room again").isInstanceOf(Tables.class);
      disk.answer();
    }
  }

  @Test
  void nothingIsReadForAPeerThatHasLeft() throws Exception {
    left = true;
    ask(IN_TIME_MS, fast());
    assertThat(answer()).isEqualTo(TableQuestion.LATE);
  }

  @Test
  void closingAnswersWaitingQuestions() throws Exception {
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      for (int i = 0; i < 5; i++) {
        ask(IN_TIME_MS, slow());
      }
      SlowFile.awaitReaders(2);
      server.close();
      for (int i = 0; i < 3; i++) {
        assertThat(answer()).isEqualTo(STOPS);
      }
      disk.answer();
    }
    assertThat(answer()).isInstanceOf(Tables.class);
    assertThat(answer()).isInstanceOf(Tables.class);
    ask(IN_TIME_MS, fast());
    assertThat(answer()).isEqualTo(STOPS);
  }

  /** Otherwise a question would wake a thread for each pair of directories. */
  @Test
  void cachedTablesAreAnsweredOnTheCallersThread() throws Exception {
    List<long[]> read = tables(slow(), fast());
    List<Thread> by = new ArrayList<>();
    try (SlowFile disk = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW))) {
      GetTables question = new GetTables(SHUFFLE, IN_TIME_MS, List.of(slow(), fast()));
      server.get(
          "peer",
          () -> true,
          question,
          answer -> {
            by.add(Thread.currentThread());
            answers.add(answer);
          });
      List<long[]> tables = ((Tables) answer()).tables();
      assertThat(tables.toArray(long[][]::new)).isDeepEqualTo(read.toArray(long[][]::new));
      disk.answer();
    }
    assertThat(by).containsExactly(Thread.currentThread());
  }

  @Test
  void moreThanAnAnswerHoldsIsRefused() throws Exception {
    ask(IN_TIME_MS, new Partitions(FAST, 0, ControlMessages.MAX_ENTRIES + 1));
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    ask(IN_TIME_MS, new Partitions(FAST, Integer.MIN_VALUE, Integer.MAX_VALUE), fast());
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    Partitions[] many = new Partitions[ControlMessages.MAX_PIECES + 1];
    Arrays.fill(many, fast());
    ask(IN_TIME_MS, many);
    assertThat(answer()).matches(answer -> answer instanceof NotStaged not && !not.stale());
    assertThat(tables(Collections.nCopies(4096, fast()).toArray(Partitions[]::new))).hasSize(4096);
  }

  @Test
  void aRegisteredOneIsAnsweredAsWell() throws Exception {
    close();
    registry =
        disks.registry(fast.directories(), fast::find, new RegistryLimits(1 << 20, 100, 1_000));
    server = new TableServer(registry);
    MapOutputHeader header = ResolvedOutput.header(registry, SHUFFLE, FAST);
    long[] table = tables(new Partitions(FAST, 3, 4)).getFirst();
    assertThat(MapOutputHeader.of(FAST, table, 0)).isEqualTo(header);
    assertThat(TableEntry.offset(table[4])).isEqualTo(18);
  }

  /** Spark's DiskBlockManager chooses each file's directory by the hash of its own name. */
  @Test
  void anIndexOnADiskThatHangsHoldsUpNoneOfOtherDisks() throws Exception {
    long mixed = 7;
    fast.write(SHUFFLE, mixed, 4, 4);
    Path index = slowDirectory.resolve("mixed.index");
    Files.move(fast.index(SHUFFLE, mixed), index);
    close();
    registry =
        disks.registry(
            disks.directories,
            (shuffleId, mapId) -> {
              if (mapId != mixed) {
                return fast.find(shuffleId, mapId);
              }
              MapOutputFiles.Files found = fast.find(shuffleId, FAST);
              return new MapOutputFiles.Files(
                  fast.data(SHUFFLE, mixed), index, null, ChecksumAlgorithm.NONE);
            },
            TwoDisks.NONE_REGISTERED);
    registry.resolve(SHUFFLE, new long[] {mixed, FAST}).get(10, TimeUnit.SECONDS);
    server = new TableServer(registry);
    try (SlowFile disk = SlowFile.inPlaceOf(index)) {
      for (int i = 0; i < 4; i++) {
        ask(IN_TIME_MS, new Partitions(mixed, 0, 1));
      }
      ask(2_000, fast());
      Object first = answer();
      disk.answer();
      assertThat(first).as("the question for the fast disk alone").isInstanceOf(Tables.class);
    }
  }

  /** Three pairs of directories use up the threads of the directory that they share. */
  @Test
  void aDiskThatHoldsAllItsThreadsIsNotWaitedForWithAnyOtherDirectory() throws Exception {
    Map<Long, MapOutputFiles.Files> files = new HashMap<>();
    List<Path> directories = new ArrayList<>(List.of(slowDirectory));
    List<Path> hang = new ArrayList<>();
    for (long mapId = 11; mapId <= 14; mapId++) {
      Path other = Files.createDirectory(fastDirectory.resolve("" + mapId));
      directories.add(other);
      MapOutputFiles.Files written = write(other, mapId);
      Path index = Files.move(written.index(), slowDirectory.resolve(mapId + ".index"));
      files.put(mapId, files(written.data(), index, written.checksums()));
      hang.add(index);
    }
    MapOutputFiles.Files written = write(directories.get(4), MIRROR);
    Path checksums = Files.move(written.checksums(), slowDirectory.resolve("mirror.checksum"));
    files.put(MIRROR, files(written.data(), written.index(), checksums));
    hang.add(checksums);
    files.put(HEALTHY, write(directories.get(1), HEALTHY));
    close();
    registry =
        disks.registry(
            LocalDirectories.unregistered(directories),
            (_, mapId) -> files.get(mapId),
            TwoDisks.NONE_REGISTERED);
    long[] all = files.keySet().stream().mapToLong(Long::longValue).toArray();
    registry.resolve(SHUFFLE, all).get(10, TimeUnit.SECONDS);
    server = new TableServer(registry);
    List<SlowFile> pipes = new ArrayList<>();
    try {
      for (Path file : hang) {
        pipes.add(SlowFile.inPlaceOf(file));
      }
      for (long mapId : new long[] {11, 11, 12, 12, 13, 13, 14, MIRROR}) {
        ask(2_000, new Partitions(mapId, 0, 1));
      }
      for (int i = 0; i < 8; i++) {
        assertThat(answer()).isEqualTo(TableQuestion.LATE);
      }
      for (long mapId : new long[] {11, 12, 13, 14, MIRROR}) {
        ask(IN_TIME_MS, new Partitions(mapId, 0, 1));
        assertThat(answers.poll()).as("map output " + mapId).isEqualTo(TableQuestion.LATE);
      }
      assertThat(tables(new Partitions(HEALTHY, 0, 1)).getFirst()).hasSizeGreaterThan(1);
    } finally {
      for (SlowFile pipe : pipes) {
        pipe.close();
      }
    }
  }

  private static MapOutputFiles.Files write(Path directory, long mapId) throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    outputs.write(SHUFFLE, mapId, 4, 4);
    return outputs.find(SHUFFLE, mapId);
  }

  private static MapOutputFiles.Files files(Path data, Path index, Path checksums) {
    return new MapOutputFiles.Files(data, index, checksums, ChecksumAlgorithm.CRC32C);
  }
}
