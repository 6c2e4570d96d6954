// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.registry.TwoDisks;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.file.PageCache;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One local directory with one map output in the page cache and others that are not. A disk may
 * answer before a thread can wait for it; such a request counts as cached.
 */
@Timeout(60)
class StagerColdTest {
  private static final int SHUFFLE = 3;
  private static final long HOT = 1;
  private static final long[] COLD = LongStream.range(2, 14).toArray();
  private static final int MAX_BYTES = Stager.MAX_REQUEST_BYTES;
  private static final int IN_TIME_MS = 60_000;

  /** Bytes of each map output's partitions. */
  private static final int[] LENGTHS = {10, 100, 500_000, 50, MAX_BYTES - 500_160};

  /** They take half of the memory. */
  private static final int COLD_READERS = 2;

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final AtomicLong nowNanos = new AtomicLong();
  private final Map<Long, byte[]> data = new HashMap<>();
  private final List<Peer> peers = new ArrayList<>();
  private MapOutputRegistry registry;
  private Stager stager;

  /** Asks for one map output; reading it from disk takes until it is let go. */
  private final class Peer {
    final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    final AtomicInteger reads = new AtomicInteger();
    final CountDownLatch letGo = new CountDownLatch(1);
    final Object process;
    volatile boolean held;

    Peer(int timeLeftMs, Partitions... blocks) {
      this(new Object(), timeLeftMs, blocks);
    }

    Peer(Object process, int timeLeftMs, Partitions... blocks) {
      this.process = process;
      peers.add(this);
      Stage stage = new Stage(SHUFFLE, timeLeftMs, List.of(blocks), 0, MAX_BYTES);
      stager.stage(process, () -> isThere(blocks.length), stage, answer -> answered(stage, answer));
    }

    private boolean isThere(int blocks) {
      boolean reads =
          StackWalker.getInstance().walk(frames -> frames.anyMatch(StagerColdTest::isRead));
      // The first read is from the page cache.
      if (reads && blocks == 1 && this.reads.incrementAndGet() == 2) {
        held = true;
        TestMapOutputs.await(letGo);
      }
      return true;
    }

    private void answered(Stage stage, Object answer) {
      if (answer instanceof Staged staged && staged.tables().stream().allMatch(Staged::isTable)) {
        byte[] bytes = domain.read(staged.region());
        assertThat(bytes).isEqualTo(expected(stage));
        assertThat(staged.crc32c()).isEqualTo(TestMapOutputs.checksum(bytes, 0, bytes.length));
        stager.done(process, staged.leaseId());
      }
      answers.add(answer);
    }

    Object answer() throws InterruptedException {
      return answers.poll(10, TimeUnit.SECONDS);
    }
  }

  private static boolean isRead(StackWalker.StackFrame frame) {
    return frame.getClassName().endsWith(".StagedBlocks") && frame.getMethodName().equals("copy");
  }

  private static Partitions all(long mapId) {
    return new Partitions(mapId, 0, LENGTHS.length);
  }

  private byte[] expected(Stage stage) {
    ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
    for (Partitions block : stage.wanted()) {
      int from = Arrays.stream(LENGTHS, 0, block.start()).sum();
      int length = Arrays.stream(LENGTHS, block.start(), block.end()).sum();
      bytes.put(data.get(block.mapId()), from, length);
    }
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  @BeforeEach
  void open() throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(directory);
    long[] all = LongStream.concat(LongStream.of(HOT), LongStream.of(COLD)).toArray();
    for (long mapId : all) {
      data.put(mapId, outputs.write(SHUFFLE, mapId, LENGTHS));
      Files.delete(outputs.checksums(SHUFFLE, mapId));
    }
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            TwoDisks.NONE_REGISTERED,
            new RecordingListener(),
            () -> 0);
    registry.resolve(SHUFFLE, all).get(10, TimeUnit.SECONDS);
    stager = new Stager(domain, registry, 4L * MAX_BYTES, 8, nowNanos::get, TestTimer.TIMER);
    for (long mapId : COLD) {
      PageCache.drop(outputs.data(SHUFFLE, mapId));
    }
  }

  @AfterEach
  void nothingIsLeft() {
    peers.forEach(peer -> peer.letGo.countDown());
    stager.close();
    assertThat(registry.counters().get(RegistryCounter.STAGING_BYTES_IN_USE)).isZero();
    assertThat(peers).allMatch(peer -> peer.answers.size() <= 1);
    registry.close();
    assertThat(domain.openRegions()).isZero();
  }

  private void stageHotOnes() throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      assertThat(new Peer(IN_TIME_MS, all(HOT)).answer()).isInstanceOf(Staged.class);
    }
  }

  private List<Peer> held() {
    return peers.stream().filter(peer -> peer.held).toList();
  }

  /** Waits until as many requests as allowed are being read from disk, while others wait. */
  private void holdUp(int timeLeftMs, long... mapIds) {
    for (long mapId : mapIds) {
      new Peer(timeLeftMs, all(mapId));
    }
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (held().size() < COLD_READERS) {
      assertThat(System.nanoTime()).isLessThan(deadlineNanos);
      Thread.onSpinWait();
    }
  }

  @Test
  void readsFromDiskDoNotDelayCachedReads() throws Exception {
    holdUp(IN_TIME_MS, COLD);
    stageHotOnes();
    assertThat(held()).hasSize(COLD_READERS).allMatch(peer -> peer.answers.isEmpty());
  }

  @Test
  void aPeersReadsFromDiskDoNotDelayItsOtherRequests() throws Exception {
    Object process = new Object();
    for (int i = 0; held().isEmpty(); i++) {
      assumeTrue(i < COLD.length, "the disk is always faster");
      Peer peer = new Peer(process, IN_TIME_MS, all(COLD[i]));
      while (!peer.held && peer.answers.isEmpty()) {
        Thread.onSpinWait();
      }
    }
    for (int i = 0; i < 3; i++) {
      assertThat(new Peer(process, IN_TIME_MS, all(HOT)).answer()).isInstanceOf(Staged.class);
    }
    assertThat(held()).allMatch(peer -> peer.answers.isEmpty());
  }

  @Test
  void eachIsAnsweredOnceAndHasWaitedOnceAtMost() throws Exception {
    holdUp(IN_TIME_MS, COLD);
    for (Peer peer : peers) {
      peer.letGo.countDown();
    }
    for (Peer peer : peers) {
      assertThat(peer.answer()).isInstanceOf(Staged.class);
    }
    assertThat(registry.counters().get(RegistryCounter.STAGING_WAITS))
        .isBetween(1L, (long) peers.size());
    assertThat(registry.counters().get(RegistryCounter.STAGED_BYTES))
        .isEqualTo((long) peers.size() * MAX_BYTES);
  }

  @Test
  void blocksOfWhichThePageCacheHasSomeLieSideBySide() throws Exception {
    for (long mapId : COLD) {
      Peer peer =
          new Peer(
              IN_TIME_MS,
              new Partitions(HOT, 0, 2),
              new Partitions(mapId, 2, 3),
              new Partitions(HOT, 3, 4),
              new Partitions(mapId, 3, 4));
      assertThat(peer.answer()).isInstanceOf(Staged.class);
    }
  }

  @Test
  void waitingForTheDiskDoesNotExtendTheRequestsTime() throws Exception {
    holdUp(1_000, COLD);
    nowNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_000));
    for (Peer peer : peers) {
      assertThat(peer.answer()).isInstanceOf(peer.held ? NotStaged.class : Object.class);
    }
    stageHotOnes();
  }

  @Test
  void cachedBytesAreStagedWithoutWaitingForADiskThatHangs() throws Exception {
    int half = COLD.length / 2;
    holdUp(1_000, Arrays.copyOf(COLD, half));
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(7));
    for (Peer peer : peers) {
      assertThat(peer.answer()).isNotNull();
    }
    List<List<long[]>> tables = new ArrayList<>();
    for (long mapId : Arrays.copyOfRange(COLD, half, COLD.length)) {
      Object answer = new Peer(IN_TIME_MS, all(mapId)).answer();
      assertThat(answer).isInstanceOf(Staged.class);
      tables.add(((Staged) answer).tables());
    }
    assertThat(tables).contains(List.of(Staged.UNREADABLE));
    stageHotOnes();
  }
}
