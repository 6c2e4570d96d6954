// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.file.DiskFile;
import dev.sluice.rdma.file.PageCache;
import dev.sluice.rdma.soft.FrameBatch.FrameBuffers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers READ files that the page cache lacks, and whose disks are slow or hang. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiskReadersTest extends SoftNodes {
  private static final int BYTES = 200_000;
  private static final int READS = 200;

  /** Exceeds the number of event loops, and of threads for a disk. */
  private static final int QUEUE_PAIRS = 24;

  /**
   * A file without bytes in the page cache, on a disk that gives no bytes before the test allows
   * it.
   */
  private static final class ColdFile extends DiskFile {
    final Semaphore asked = new Semaphore(0);
    final Semaphore answers = new Semaphore(0);
    private final RandomAccessFile file;
    private final long disk;

    /** Target of the last read. */
    private volatile ByteBuffer target;

    private volatile IOException failure;

    /** Bytes at the start of the file that are in the page cache in spite of that. */
    volatile int cachedPrefix;

    /** Sizes of the pieces for which cached bytes were counted. */
    final List<Integer> pieces = new CopyOnWriteArrayList<>();

    final AtomicInteger bytesFromDisk = new AtomicInteger();

    ColdFile(RandomAccessFile file, long disk) {
      super(file);
      this.file = file;
      this.disk = disk;
    }

    void fail(IOException thrown) {
      failure = thrown;
    }

    boolean isOpen() {
      return file.getChannel().isOpen();
    }

    @Override
    public long disk() {
      return disk;
    }

    @Override
    public boolean tellsCached() {
      return true;
    }

    @Override
    public int cachedBytes(long position, int bytes) {
      pieces.add(bytes);
      return (int) Math.clamp(cachedPrefix - position, 0L, bytes);
    }

    @Override
    public int read(long position, ByteBuffer target, boolean cached) throws IOException {
      if (cached) {
        return 0;
      }
      this.target = target;
      int count = await(super.read(position, target, false));
      bytesFromDisk.addAndGet(count);
      return count;
    }

    @Override
    public int readArray(long position, ByteBuffer target, boolean cached) throws IOException {
      return cached ? 0 : await(super.readArray(position, target, false));
    }

    private int await(int count) throws IOException {
      asked.release();
      answers.acquireUninterruptibly();
      if (failure != null) {
        throw failure;
      }
      return count;
    }
  }

  private final List<ColdFile> files = new ArrayList<>();
  private TestNode right;
  private MemoryRegion target;

  /** Uses a long limit, so that a silent disk only counts as slow, however long a test waits. */
  @BeforeEach
  void openRight() throws IOException {
    right = open(SoftOptions.DEFAULT.with(o -> o.maxDiskReadMs = 600_000));
    target = left.register(BYTES, TestNode.ALL);
  }

  @AfterEach
  void answerAll() {
    files.forEach(file -> file.answers.release(1 << 20));
  }

  private static byte[] bytes() {
    byte[] bytes = new byte[BYTES];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  private Path write(String name) throws IOException {
    return Files.write(directory.resolve(name), bytes());
  }

  private ColdFile cold(long disk) throws IOException {
    Path path = write("cold" + files.size());
    ColdFile file = new ColdFile(new RandomAccessFile(path.toFile(), "r"), disk);
    files.add(file);
    return file;
  }

  /** READs the file through many queue pairs. None of the READs is answered. */
  private List<QueuePair> readInVain(ColdFile file) throws Exception {
    FileRegion region = right.pd.registerFile(file, BYTES);
    List<QueuePair> answering = new ArrayList<>();
    for (int i = 0; i < QUEUE_PAIRS; i++) {
      QueuePair asking = left.createQueuePair();
      QueuePair answers = right.createQueuePair();
      TestNode.connect(asking, answers, ConnectionAttributes.DEFAULT);
      asking.postSend(List.of(read(1, target, region, i % 2 == 0 ? 1_000 : BYTES)));
      answering.add(answers);
    }
    file.asked.acquire();
    return answering;
  }

  private void assertAllRead(QueuePair queuePair, MemoryRegion source) throws Exception {
    MemoryRegion own = left.register(BYTES, TestNode.ALL);
    for (int i = 0; i < READS; i++) {
      queuePair.postSend(List.of(read(i, own, source, i % 2 == 0 ? 1_000 : BYTES)));
      assertThat(left.await(1)).extracting(Completed::status).containsExactly(SUCCESS);
    }
    assertThat(left.memory(own).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
  }

  @Test
  void readsInTheOtherDirectionGoOnWhileADiskHangs() throws Exception {
    List<QueuePair> answering = readInVain(cold(1));
    MemoryRegion source = left.register(BYTES, TestNode.ALL);
    MemoryRegion own = right.register(BYTES, TestNode.ALL);
    for (QueuePair queuePair : answering) {
      queuePair.postSend(Collections.nCopies(10, read(2, own, source, BYTES)));
      assertThat(right.await(10)).extracting(Completed::status).containsOnly(SUCCESS);
    }
  }

  @Test
  void cachedFilesAreReadWhileADiskHangs() throws Exception {
    readInVain(cold(1));
    FileRegion source = right.pd.registerFile(DiskFile.open(write("cached")), BYTES);
    assertAllRead(connect(right, ConnectionAttributes.DEFAULT), source);
  }

  @Test
  void filesOnOtherDisksAreReadWhileADiskHangs() throws Exception {
    readInVain(cold(1));
    ColdFile other = cold(2);
    other.answers.release(1 << 20);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    assertAllRead(queuePair, right.pd.registerFile(other, BYTES));
  }

  @Test
  void answersOfAQueuePairStayInOrderWhileADiskIsSlow() throws Exception {
    ColdFile slow = cold(1);
    FileRegion region = right.pd.registerFile(slow, BYTES);
    MemoryRegion memory = right.register(1_000, TestNode.ALL);
    MemoryRegion own = left.register(1_000, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, region, BYTES), read(2, own, memory, 1_000)));
    WorkCompletions first = new WorkCompletions(1);
    while (left.cq.poll(first) == 0) { // the class has a timeout
      if (slow.asked.tryAcquire(10, TimeUnit.MILLISECONDS)) {
        slow.answers.release();
      }
    }
    assertThat(first.wrId(0)).isEqualTo(1);
    assertThat(first.status(0)).isEqualTo(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
    assertThat(left.await(1)).containsExactly(new Completed(2, SUCCESS, queuePair.qpNumber()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2_048, 4_097, 65_536, 65_537, BYTES})
  void bytesFromDiskAreTheFiles(int bytes) throws Exception {
    RandomAccessFile file = new RandomAccessFile(write("plain").toFile(), "r");
    FileRegion region = right.pd.registerFile(new DiskFile(file), BYTES);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, target, region, bytes), read(2, target, region, bytes)));
    assertThat(await(2)).containsOnly(SUCCESS);
    byte[] expected = Arrays.copyOf(bytes(), bytes);
    assertThat(left.memory(target).asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE))
        .isEqualTo(expected);
  }

  @Test
  void aFileThatLiesOnItsDiskAloneIsRead() throws Exception {
    Path path = write("dropped");
    FileRegion region = right.pd.registerFile(DiskFile.open(path), BYTES);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    for (int i = 0; i < 5; i++) {
      PageCache.drop(path);
      left.memory(target).fill((byte) 0);
      queuePair.postSend(List.of(read(1, target, region, BYTES)));
      assertThat(await(1)).containsExactly(SUCCESS);
      assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
    }
  }

  @Test
  void aDiskThatFailsAndAFileThatIsShorterFailTheirReads() throws Exception {
    ColdFile failing = cold(1);
    failing.answers.release(1 << 20);
    FileRegion region = right.pd.registerFile(failing, BYTES);
    failing.fail(new IOException("thrown by a test"));
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, region, BYTES)));
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
    failing.fail(new EOFException("thrown by a test"));
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(2, target, region, 1_000)));
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
  }

  @Test
  void deregistrationDoesNotWaitForADisk() throws Exception {
    ColdFile file = cold(1);
    FileRegion region = right.pd.registerFile(file, BYTES);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, region, BYTES)));
    file.asked.acquire();
    region.close();
    assertThat(file.isOpen()).isTrue();
    file.answers.release(1 << 20);
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
    assertThat(file.isOpen()).isFalse();
  }

  @Test
  void aReadThatEndsBehindItsRegionGivesBackItsBuffer() throws Exception {
    ColdFile file = cold(1);
    FileRegion region = right.pd.registerFile(file, BYTES);
    QueuePair answering = connectTo(read(1, target, region, BYTES));
    file.asked.acquire();
    region.close();
    file.answers.release(1 << 20);
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
    awaitGivenBack(answering, file);
  }

  @Test
  void aReadThatEndsBehindItsQueuePairGivesBackItsBuffer() throws Exception {
    ColdFile file = cold(1);
    QueuePair answering = connectTo(read(1, target, right.pd.registerFile(file, BYTES), BYTES));
    file.asked.acquire();
    answering.close();
    file.answers.release(1 << 20);
    awaitGivenBack(answering, file);
  }

  /** The disk's thread may give the buffer back after the peer has its answer. */
  private static void awaitGivenBack(QueuePair queuePair, ColdFile file) throws Exception {
    while (!isGivenBack(queuePair, file)) { // the class has a timeout
      Thread.sleep(10);
    }
  }

  /** Returns the queue pair that answers the READ. */
  private QueuePair connectTo(SendWorkRequest read) throws Exception {
    QueuePair asking = left.createQueuePair();
    QueuePair answering = right.createQueuePair();
    TestNode.connect(asking, answering, ConnectionAttributes.DEFAULT);
    asking.postSend(List.of(read));
    return answering;
  }

  /**
   * Keeps the buffers that it takes. With 16 spare ones, the pool would drop the next one returned.
   */
  private static boolean isGivenBack(QueuePair queuePair, ColdFile file) {
    FrameBuffers buffers = ((SoftQueuePair) queuePair).loop().frameBuffers();
    List<ByteBuffer> spare = Stream.generate(buffers::take).limit(17).toList();
    return spare.stream().anyMatch(buffer -> buffer == file.target);
  }

  private ColdFile readPartlyCached(int cachedPrefix) throws Exception {
    ColdFile file = cold(1);
    file.cachedPrefix = cachedPrefix;
    file.answers.release(1 << 20);
    FileRegion region = right.pd.registerFile(file, BYTES);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, region, BYTES)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
    return file;
  }

  @Test
  void onlyMissingBytesOfALargeFrameAreReadFromDisk() throws Exception {
    assertThat(readPartlyCached(130_000).bytesFromDisk).hasValue(BYTES - 130_000);
  }

  @Test
  void afterAMissThePageCacheIsAskedForSmallPieces() throws Exception {
    List<Integer> pieces = readPartlyCached(0).pieces;
    assertThat(pieces).startsWith(BYTES).hasSizeGreaterThan(1);
    assertThat(pieces.subList(1, pieces.size())).allMatch(bytes -> bytes <= FrameBuffers.BYTES);
  }

  @Test
  void cachedBytesThatOnlyAReadFindsNeedNoThreadOfADisk() throws Exception {
    RandomAccessFile file = new RandomAccessFile(write("plain").toFile(), "r");
    AtomicInteger readers = new AtomicInteger();
    DiskFile cached =
        new DiskFile(file) {
          @Override
          public boolean tellsCached() {
            return true;
          }

          @Override
          public int read(long position, ByteBuffer target, boolean cached) throws IOException {
            readers.addAndGet(cached ? 0 : 1);
            return super.read(position, target, cached);
          }
        };
    FileRegion region = right.pd.registerFile(cached, BYTES);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, region, BYTES)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
    assertThat(readers).hasValue(0);
  }

  @Test
  void aReadThatWaitsForADiskThatHangsIsRefused() throws Exception {
    TestNode impatient = open(SoftOptions.DEFAULT.with(o -> o.maxDiskReadMs = 50));
    ColdFile file = cold(1);
    FileRegion region = impatient.pd.registerFile(file, BYTES);
    MemoryRegion memory = impatient.register(1_000, TestNode.ALL);
    connect(impatient, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, target, region, BYTES), read(2, target, memory, 1_000)));
    assertThat(await(2)).containsExactly(REM_ACCESS_ERR, WR_FLUSH_ERR);
    for (int i = 0; i < 10; i++) {
      connect(impatient, ConnectionAttributes.DEFAULT)
          .postSend(List.of(read(3, target, memory, 1_000), read(4, target, region, 1_000)));
      assertThat(await(2)).containsExactly(SUCCESS, REM_ACCESS_ERR);
    }
    assertThat(file.asked.availablePermits()).isEqualTo(1);
  }

  @Test
  void cachedBytesOfADiskThatHangsAreRead() throws Exception {
    TestNode impatient = open(SoftOptions.DEFAULT.with(o -> o.maxDiskReadMs = 50));
    FileRegion region = impatient.pd.registerFile(cold(1), BYTES);
    connect(impatient, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, target, region, BYTES)));
    assertThat(await(1)).containsExactly(REM_ACCESS_ERR);
    ColdFile cached = cold(1);
    cached.cachedPrefix = BYTES;
    FileRegion other = impatient.pd.registerFile(cached, BYTES);
    assertAllOf(connect(impatient, ConnectionAttributes.DEFAULT), other);
  }

  private void assertAllOf(QueuePair queuePair, MemoryRegion source) throws Exception {
    queuePair.postSend(List.of(read(1, target, source, BYTES)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes()))).isEqualTo(-1);
  }

  /**
   * The disk has two threads. The third read waits for one of them, and this wait does not count.
   */
  @Test
  void aDiskAnswersAsLongAsItEndsItsReadsInTime() throws Exception {
    AtomicLong now = new AtomicLong();
    FrameBuffers buffers = new FrameBuffers();
    BlockingQueue<ByteBuffer> ended = new LinkedBlockingQueue<>();
    ColdFile[] slow = {cold(1), cold(1), cold(1)};
    try (DiskReaders readers = new DiskReaders(2, 1_000, () -> now.get() * 1_000_000)) {
      assertThat(readers.nanosLeft(1)).isEqualTo(1_000_000_000);
      for (ColdFile file : slow) {
        SoftFileRegion region = (SoftFileRegion) right.pd.registerFile(file, BYTES);
        readers.read(region, region.address(), 1_000, buffers, (bytes, _) -> ended.add(bytes));
      }
      slow[0].asked.acquire();
      slow[1].asked.acquire();
      now.set(900);
      assertThat(readers.nanosLeft(1)).isEqualTo(100_000_000);
      slow[0].answers.release(2);
      slow[1].answers.release(2);
      ended.take();
      ended.take();
      slow[2].asked.acquire();
      now.set(1_800);
      assertThat(readers.nanosLeft(1)).isEqualTo(100_000_000);
      now.set(1_900);
      assertThat(readers.nanosLeft(1)).isZero();
      assertThat(readers.nanosLeft(2)).isEqualTo(1_000_000_000);
      slow[2].answers.release(2);
      ended.take();
      assertThat(readers.nanosLeft(1)).isEqualTo(1_000_000_000);
    }
  }

  @Test
  void manyDisksHaveFewThreadsEach() {
    try (DiskReaders readers = new DiskReaders(64, 1_000, System::nanoTime)) {
      List<Integer> threads =
          LongStream.range(0, 12)
              .mapToObj(disk -> readers.pool(disk).getMaximumPoolSize())
              .toList();
      assertThat(threads).containsExactly(8, 8, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);
      assertThat(readers.pool(0)).isSameAs(readers.pool(0));
    }
  }

  @Test
  void theLastReaderClosesTheFileOfADeviceThatIsClosed() throws Exception {
    ColdFile file = cold(1);
    readInVain(file);
    right.device.close();
    assertThat(file.isOpen()).isTrue();
    file.answers.release(1 << 20);
    while (file.isOpen()) { // the class has a timeout
      Thread.onSpinWait();
    }
  }
}
