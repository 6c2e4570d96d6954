// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.LOC_PROT_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.soft.FrameHeader.FrameType;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.verbs.VerbsException;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that the device sends itself. */
class SoftFileRegionTest extends SoftNodes {
  private static final int MIB = 1 << 20;

  private int files;

  /** An open file, for reading and writing, with the content of {@link #bytes}. */
  private RandomAccessFile file(int size) throws IOException {
    RandomAccessFile file =
        new RandomAccessFile(directory.resolve("data" + files++).toFile(), "rw");
    file.write(bytes(size));
    return file;
  }

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return bytes;
  }

  private static SendWorkRequest read(
      long wrId, MemoryRegion target, long to, MemoryRegion source, long from, int bytes) {
    return new SendWorkRequest(
        wrId,
        new ScatterGatherEntry(target.address() + to, bytes, target.lkey()),
        source.address() + from,
        source.rkey(),
        true);
  }

  /** Waits until the file is closed: a frame that is being sent ends first. */
  private static void awaitClosed(RandomAccessFile file) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (file.getChannel().isOpen()) {
      assertThat(System.nanoTime()).as("%s is open", file).isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  private QueuePair connect(TestNode right) throws VerbsException {
    return connect(right, ConnectionAttributes.DEFAULT);
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0,
        1,
        16,
        4095,
        4097,
        32_767,
        32_768,
        32_769,
        65_496,
        65_536,
        262_145,
        MIB,
        MIB + 1,
        20_000_003
      })
  void bringsExactlyTheBytesThatWereAskedFor(int bytes) throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int margin = 13;
    int size = bytes + 2 * margin;
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(size)), size);
    MemoryRegion target = left.register(size, TestNode.ALL);
    left.memory(target).fill((byte) 0x5A);
    connect(right).postSend(List.of(read(1, target, margin, source, margin, bytes)));
    assertThat(await(1)).containsExactly(SUCCESS);
    MemorySegment expected = MemorySegment.ofArray(bytes(size));
    expected.asSlice(0, margin).fill((byte) 0x5A);
    expected.asSlice(margin + bytes).fill((byte) 0x5A);
    assertThat(left.memory(target).mismatch(expected)).isEqualTo(-1);
  }

  @Test
  void manyPiecesOfAllSizesKeepTheirPlaces() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int size = 8 * MIB;
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(size)), size);
    MemoryRegion memory = right.register(size, TestNode.ALL);
    right.memory(memory).copyFrom(MemorySegment.ofArray(bytes(size)));
    MemoryRegion target = left.register(size, TestNode.ALL);
    QueuePair queuePair = connect(right);
    Random random = new Random(3);
    byte[] all = bytes(size);
    for (int round = 0; round < 20; round++) {
      List<SendWorkRequest> reads = new ArrayList<>();
      int at = 0;
      while (reads.size() < TestNode.DEPTH) {
        int bytes = Math.min(1 << random.nextInt(18), size - at);
        MemoryRegion from = random.nextInt(4) == 0 ? memory : source;
        reads.add(read(reads.size(), target, at, from, at, bytes - random.nextInt(bytes)));
        at += bytes;
      }
      left.memory(target).fill((byte) 0);
      queuePair.postSend(reads);
      assertThat(await(reads.size())).containsOnly(SUCCESS);
      byte[] expected = new byte[size];
      for (SendWorkRequest read : reads) {
        int position = (int) (read.local().address() - target.address());
        System.arraycopy(all, position, expected, position, read.local().length());
      }
      assertThat(left.memory(target).mismatch(MemorySegment.ofArray(expected))).isEqualTo(-1);
    }
  }

  @Test
  void smallPiecesOfMoreFilesThanAreReadAheadAreTheirFiles() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int size = 40_000;
    int step = 900;
    List<MemoryRegion> sources = new ArrayList<>();
    for (int i = 0; i < 1_100; i++) {
      sources.add(right.pd.registerFile(new CachedFile(file(size + i)), size + i));
    }
    MemoryRegion target = left.register((long) sources.size() * step, TestNode.ALL);
    QueuePair queuePair = connect(right);
    for (int from : new int[] {0, step, 4 * step, 2 * step, 30_000, 31_000, 39_100}) {
      MemorySegment expected = MemorySegment.ofArray(new byte[sources.size() * step]);
      for (int first = 0; first < sources.size(); first += 50) {
        List<SendWorkRequest> reads = new ArrayList<>();
        for (int i = first; i < first + 50; i++) {
          long to = (long) i * step;
          reads.add(read(i, target, to, sources.get(i), from, step));
          expected.asSlice(to).copyFrom(MemorySegment.ofArray(bytes(size + i)).asSlice(from, step));
        }
        queuePair.postSend(reads);
        assertThat(await(reads.size())).containsOnly(SUCCESS);
      }
      assertThat(left.memory(target).mismatch(expected)).isEqualTo(-1);
    }
  }

  @Test
  void itsOwnProcessReadsItToo() throws Exception {
    RandomAccessFile file = file(MIB);
    FileRegion region = left.pd.registerFile(new CachedFile(file), MIB);
    byte[] written = bytes(MIB);
    Thread.currentThread().interrupt();
    for (int length : new int[] {1, 900, 2048, 5000, 300_000}) {
      for (int position : new int[] {0, 10, 7_500, 16_384, 20_000, 15_000, MIB - 300_000}) {
        byte[] target = new byte[length + 2];
        region.copy(position, target, 1, length);
        assertThat(Arrays.copyOfRange(target, 1, 1 + length))
            .isEqualTo(Arrays.copyOfRange(written, position, position + length));
      }
    }
    assertThat(Thread.interrupted()).isTrue();
    file.setLength(100_000);
    for (int length : new int[] {1000, 5000}) {
      assertThatThrownBy(() -> region.copy(99_900, new byte[length], 0, length))
          .isInstanceOf(EOFException.class);
    }
    region.close();
    assertThatThrownBy(() -> region.copy(50_000, new byte[5000], 0, 5000))
        .isInstanceOf(IOException.class);
  }

  @Test
  void onlyBytesReadAheadSurviveTheTruncationOfTheFile() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile file = file(MIB);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file), MIB);
    MemoryRegion target = left.register(1000, TestNode.ALL);
    QueuePair queuePair = connect(right);
    queuePair.postSend(List.of(read(1, target, 0, source, 500, 1000)));
    assertThat(await(1)).containsExactly(SUCCESS);
    file.setLength(0);
    queuePair.postSend(List.of(read(2, target, 0, source, 2000, 1000)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes(MIB)).asSlice(2000, 1000)))
        .isEqualTo(-1);
    queuePair.postSend(List.of(read(3, target, 0, source, 17_000, 1000)));
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
  }

  /** The next reader of a block sees the disk's corruption (SPARK-36206). */
  @Test
  void repeatedReadsReadTheFileAgain() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile file = file(2000);
    FileRegion source = right.pd.registerFile(new CachedFile(file), 2000);
    MemoryRegion target = left.register(100, TestNode.ALL);
    QueuePair queuePair = connect(right);
    for (int from : new int[] {0, 100, 200}) {
      queuePair.postSend(List.of(read(1, target, 0, source, from, 100)));
      assertThat(await(1)).containsExactly(SUCCESS);
    }
    byte[] zeros = new byte[2000];
    file.seek(0);
    file.write(zeros);
    queuePair.postSend(List.of(read(2, target, 0, source, 299, 100)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(zeros).asSlice(0, 100)))
        .isEqualTo(-1);
    byte[] own = new byte[100];
    for (int from : new int[] {0, 250, 250}) {
      source.copy(from, own, 0, 100);
      assertThat(own).containsOnly(0);
    }
  }

  @Test
  void aFileThatHasNoNameAnyMoreIsReadUntilItIsDeregistered() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile file = file(MIB);
    Files.delete(directory.resolve("data0"));
    Files.write(directory.resolve("data0"), new byte[MIB]);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file), MIB);
    MemoryRegion target = left.register(MIB, TestNode.ALL);
    QueuePair queuePair = connect(right);
    queuePair.postSend(List.of(read(1, target, source, MIB)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes(MIB)))).isEqualTo(-1);
    assertThat(file.getChannel().isOpen()).isTrue();

    source.close();
    assertThat(file.getChannel().isOpen()).isFalse();
    queuePair.postSend(List.of(read(2, target, source, MIB)));
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
  }

  @Test
  void filesOfRefusedRegistrationsStayOpen() throws Exception {
    try (RandomAccessFile file = file(100)) {
      for (long bytes : new long[] {0, -1, 101, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> left.pd.registerFile(new CachedFile(file), bytes))
            .isInstanceOfSatisfying(
                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
      }
      assertThat(file.getChannel().isOpen()).isTrue();
    }
    RandomAccessFile closed = file(100);
    closed.close();
    assertThatThrownBy(() -> left.pd.registerFile(new CachedFile(closed), 100))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EIO));
  }

  @Test
  void theirAddressesAreNoMemorysAndNoOthers() throws Exception {
    long end = 1L << 57;
    for (int i = 0; i < 100; i++) {
      MemoryRegion region = left.pd.registerFile(new CachedFile(file(100 + i)), 100);
      assertThat(region.length()).isEqualTo(100);
      assertThat(region.address()).isGreaterThanOrEqualTo(end);
      end = region.address() + region.length();
      region.close();
    }
  }

  @Test
  void readsOutsideOfTheRegionAreRefused() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(200)), 100);
    MemoryRegion other = right.pd.registerFile(new CachedFile(file(200)), 200);
    MemoryRegion target = left.register(200, TestNode.ALL);
    long toOther = other.address() - source.address();
    for (long from : new long[] {-1, 1, 100, toOther, Long.MIN_VALUE, -source.address()}) {
      connect(right).postSend(List.of(read(1, target, 0, source, from, 100)));
      assertThat(await(1)).as("from %d", from).containsExactly(REM_ACCESS_ERR);
    }
  }

  @Test
  void theyAreNoLocalBuffers() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.pd.registerFile(new CachedFile(file(64)), 64);
    connect(right).postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(LOC_PROT_ERR);
  }

  @Test
  void canBeDeregisteredUnderAStreamOfReads() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    for (int bytes : new int[] {100, 30_000, 4 * MIB}) {
      MemoryRegion target = left.register(bytes, TestNode.ALL);
      for (int round = 0; round < 10; round++) {
        RandomAccessFile file = file(bytes);
        MemoryRegion source = right.pd.registerFile(new CachedFile(file), bytes);
        QueuePair queuePair = connect(right);
        queuePair.postSend(Collections.nCopies(64, read(1, target, source, bytes)));
        List<WorkCompletionStatus> statuses = new ArrayList<>(await(1));
        source.close();
        statuses.addAll(await(63));
        awaitClosed(file);
        int failed = statuses.indexOf(REM_ACCESS_ERR);
        int succeeded = failed < 0 ? 64 : failed;
        assertThat(statuses.subList(0, succeeded)).containsOnly(SUCCESS);
        assertThat(statuses.stream().skip(succeeded + 1)).allMatch(WR_FLUSH_ERR::equals);
        assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes(bytes)))).isEqualTo(-1);
        queuePair.close();
        Files.delete(directory.resolve("data" + (files - 1)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 32_768, 32_769, 4 * MIB})
  void readOfAFileThatIsTooShortFailsAndNothingElse(int bytes) throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile file = file(bytes);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file), bytes);
    MemoryRegion target = left.register(bytes, TestNode.ALL);
    for (int size : new int[] {bytes - 1, bytes / 2, 0}) {
      file.setLength(size);
      connect(right).postSend(List.of(read(1, target, source, bytes)));
      assertThat(await(1)).as("%d bytes", size).containsExactly(REM_ACCESS_ERR);
    }
    MemoryRegion whole = right.pd.registerFile(new CachedFile(file(bytes)), bytes);
    connect(right).postSend(List.of(read(2, target, whole, bytes)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  /** The rest of a truncated file is still correct. */
  @Test
  void theRestOfATruncatedFileIsRead() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile file = file(MIB);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file), MIB);
    MemoryRegion target = left.register(MIB, TestNode.ALL);
    file.setLength(MIB / 2);
    connect(right).postSend(List.of(read(1, target, source, MIB / 2)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(
            left.memory(target)
                .asSlice(0, MIB / 2)
                .mismatch(MemorySegment.ofArray(bytes(MIB)).asSlice(0, MIB / 2)))
        .isEqualTo(-1);
  }

  /** The loopback interface has no speed: reading it fails as on a broken disk. */
  @Test
  void readOfABrokenDiskFailsAndNothingElse() throws Exception {
    File speed = new File("/sys/class/net/lo/speed");
    assumeTrue(speed.exists(), speed + " is missing");
    TestNode right = open(SoftOptions.DEFAULT);
    RandomAccessFile broken = new RandomAccessFile(speed, "r");
    MemoryRegion source = right.pd.registerFile(new CachedFile(broken), 16);
    MemoryRegion target = left.register(64, TestNode.ALL);
    MemoryRegion good = right.register(64, TestNode.ALL);
    connect(right).postSend(List.of(read(1, target, good, 64), read(2, target, source, 16)));
    assertThat(await(2)).containsExactly(SUCCESS, REM_ACCESS_ERR);
    connect(right).postSend(List.of(read(3, target, good, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void readOfAFileThatBecomesShorterMeanwhileFailsOrIsRight() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int bytes = 16 * MIB;
    MemoryRegion target = left.register(bytes, TestNode.ALL);
    byte[] written = bytes(bytes);
    for (int round = 0; round < 10; round++) {
      RandomAccessFile file = file(bytes);
      MemoryRegion source = right.pd.registerFile(new CachedFile(file), bytes);
      QueuePair queuePair = connect(right);
      queuePair.postSend(
          List.of(read(1, target, source, 64), read(2, target, 0, source, 0, bytes)));
      assertThat(await(1)).containsExactly(SUCCESS);
      file.setLength(round * MIB);
      WorkCompletionStatus status = await(1).getFirst();
      assertThat(status).isIn(SUCCESS, REM_ACCESS_ERR, RETRY_EXC_ERR);
      if (status == SUCCESS) {
        assertThat(left.memory(target).mismatch(MemorySegment.ofArray(written))).isEqualTo(-1);
      }
      queuePair.close();
      source.close();
      Files.delete(directory.resolve("data" + (files - 1)));
    }
    MemoryRegion whole = right.register(64, TestNode.ALL);
    connect(right).postSend(List.of(read(3, target, whole, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void aFrameThatIsUnderWayEndsWholeWhenItsFileIsDeregistered() throws Exception {
    RandomAccessFile file = file(64 * MIB);
    MemoryRegion source = left.pd.registerFile(new CachedFile(file), 64 * MIB);
    try (RawPeer peer =
        RawPeer.connectTo(left.createQueuePair(), 16, ConnectionAttributes.DEFAULT)) {
      ByteBuffer request = ByteBuffer.allocate(FrameHeader.BYTES);
      RawPeer.putRead(request, source.toRemote());
      peer.send(request.flip());
      FrameHeader header = peer.receiveHeader();
      source.close();
      ByteBuffer expected = ByteBuffer.wrap(bytes(64 * MIB));
      while (header.type == FrameType.DATA) {
        ByteBuffer got = peer.receive(header.length);
        assertThat(got).isEqualTo(expected.slice(expected.position(), header.length));
        expected.position(expected.position() + header.length);
        header = peer.receiveHeader();
      }
      assertThat(expected.remaining()).isPositive();
      assertThat(header.type).isEqualTo(FrameType.NAK);
      assertThat(WorkCompletionStatus.of(header.code)).isEqualTo(REM_ACCESS_ERR);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 40_000, 3 * MIB})
  void plannedCorruptionChangesOneByteAndNotTheFile(int bytes) throws Exception {
    TestNode right = faulty("corrupt@1");
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(bytes)), bytes);
    MemoryRegion target = left.register(bytes, TestNode.ALL);
    QueuePair queuePair = connect(right);
    queuePair.postSend(List.of(read(1, target, source, bytes)));
    assertThat(await(1)).containsExactly(SUCCESS);
    MemorySegment written = MemorySegment.ofArray(bytes(bytes));
    MemorySegment got = left.memory(target);
    long wrong = got.mismatch(written);
    assertThat(wrong).isNotEqualTo(-1);
    assertThat(got.asSlice(wrong + 1).mismatch(written.asSlice(wrong + 1))).isEqualTo(-1);
    queuePair.postSend(List.of(read(2, target, source, bytes)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(got.mismatch(written)).isEqualTo(-1);
  }

  /** An interrupted thread that reads a file closes it for all later readers. */
  @Test
  void threadsThatPostReadNoFile() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(MIB)), MIB);
    MemoryRegion target = left.register(MIB, TestNode.ALL);
    MemoryRegion back = left.register(64, TestNode.ALL);
    MemoryRegion own = right.register(64, TestNode.ALL);
    QueuePair asks = left.createQueuePair();
    QueuePair answers = right.createQueuePair();
    TestNode.connect(asks, answers);
    for (int round = 0; round < 50; round++) {
      asks.postSend(Collections.nCopies(32, read(1, target, source, round % 2 == 0 ? MIB : 1000)));
      Thread.currentThread().interrupt();
      try {
        answers.postSend(Collections.nCopies(32, read(2, own, back, 64)));
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
      assertThat(await(32)).containsOnly(SUCCESS);
      assertThat(right.await(32)).allMatch(completed -> completed.status() == SUCCESS);
    }
  }

  @Test
  void everyReadIsAnsweredOnceAndRightWhateverFails() throws Exception {
    TestNode right =
        faulty("seed=12;kill=0.02;status=0.02:REM_OP_ERR;delay=0.05:1;status=0.01:REM_ACCESS_ERR");
    int bytes = 3 * MIB / 2;
    MemoryRegion source = right.pd.registerFile(new CachedFile(file(bytes)), bytes);
    int succeeded = 0;
    for (int round = 0; round < 30; round++) {
      MemoryRegion target = left.register(bytes, TestNode.ALL);
      QueuePair queuePair = connect(right);
      queuePair.postSend(Collections.nCopies(20, read(1, target, source, bytes)));
      List<WorkCompletionStatus> statuses = await(20);
      if (statuses.getFirst() == SUCCESS) {
        succeeded++;
        assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes(bytes)))).isEqualTo(-1);
      }
      assertThat(statuses)
          .allMatch(
              status ->
                  List.of(SUCCESS, REM_OP_ERR, REM_ACCESS_ERR, RETRY_EXC_ERR, WR_FLUSH_ERR)
                      .contains(status));
      queuePair.close();
      target.close();
    }
    assertThat(succeeded).isPositive();
  }
}
