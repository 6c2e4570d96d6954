// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.rdma.transfer.SoftPair.Answer;
import dev.sluice.rdma.transfer.SoftPair.Server;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whole endpoints on the software provider, including its faults. */
class RdmaEndpointTest {
  private static final int MIB = 1 << 20;
  private static final long LONG_MS = 25_000;

  private SoftPair pair;

  @BeforeEach
  void open() throws Exception {
    pair = new SoftPair(SoftPair.OPTIONS);
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private void assertExact(Server server, List<RemoteRegion> ranges, Answer answer) {
    assertThat(answer.failure()).isNull();
    long at = 0;
    for (RemoteRegion range : ranges) {
      long offset = range.address() - server.region().address();
      MemorySegment expected = server.memory().asSlice(offset, range.length());
      assertThat(answer.target().segment().asSlice(at, range.length()).mismatch(expected))
          .isEqualTo(-1);
      at += range.length();
    }
    answer.target().release();
  }

  private void assertFailed(Answer answer, Cause cause) {
    assertThat(answer.failure()).isNotNull();
    assertThat(answer.failure().failure()).isEqualTo(cause);
    answer.target().release();
  }

  private static List<RemoteRegion> randomRanges(Random random, Server server) {
    List<RemoteRegion> ranges = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      int length = 1 + random.nextInt(1 << random.nextInt(20));
      long offset = random.nextLong(server.memory().byteSize() - length + 1);
      ranges.add(server.range(offset, length));
    }
    return ranges;
  }

  @Test
  void readsExactlyTheBytesOfRandomRanges() throws Exception {
    Server server = pair.serve("a", 4 * MIB, "");
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      List<RemoteRegion> ranges = randomRanges(random, server);
      assertExact(server, ranges, SoftPair.await(pair.read(server, ranges, LONG_MS)));
    }
    assertThat(pair.reader.counters().get(TransferCounter.QUEUE_PAIRS_CREATED)).isEqualTo(1);
    assertThat(pair.reader.buffers().bytesInUse()).isZero();
  }

  @Test
  void readingARegionReturnsItsBytesOrTheFailure() throws Exception {
    Server server = pair.serve("a", MIB, "");
    RemoteRegion range = server.range(5, 1000);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONG_MS);
    PooledBuffer buffer =
        pair.reader.buffers().acquire(1000, deadline).get(LONG_MS, TimeUnit.MILLISECONDS);
    pair.reader.read(server.address(), range, buffer, deadline).get(LONG_MS, TimeUnit.MILLISECONDS);
    assertThat(buffer.segment().mismatch(server.memory().asSlice(5, 1000))).isEqualTo(-1);
    RemoteRegion stale = new RemoteRegion(range.address(), 8, 0x0BAD);
    assertThat(pair.reader.read(server.address(), stale, buffer, deadline))
        .failsWithin(LONG_MS, TimeUnit.MILLISECONDS)
        .withThrowableThat()
        .withCauseInstanceOf(ReadException.class);
    buffer.release();
  }

  @Test
  void aStaleKeyFailsAloneAndTheOtherReadsSucceed() throws Exception {
    Server server = pair.serve("a", MIB, "");
    List<RemoteRegion> good = List.of(server.range(0, MIB));
    List<RemoteRegion> stale = List.of(new RemoteRegion(server.region().address(), 8, 0x0BAD));
    for (int round = 0; round < 20; round++) {
      CompletableFuture<Answer> before = pair.read(server, good, LONG_MS);
      CompletableFuture<Answer> between = pair.read(server, stale, LONG_MS);
      CompletableFuture<Answer> behind = pair.read(server, good, LONG_MS);
      assertExact(server, good, SoftPair.await(before));
      Answer failed = SoftPair.await(between);
      assertThat(failed.failure()).hasMessageEndingWith("(REM_ACCESS_ERR)");
      assertFailed(failed, Cause.STALE_LOCATION);
      assertExact(server, good, SoftPair.await(behind));
    }
  }

  /**
   * Both cuts must lie in different batches. Each cut blames the oldest READ without a completion,
   * and a READ that is blamed twice fails, as it should. A batch has 160 work requests, and those
   * that the first cut loses are posted again. The 200th therefore belongs to the second batch.
   */
  @Test
  void aConnectionThatIsCutIsReplacedAndEveryReadSucceeds() throws Exception {
    Server server = pair.serve("a", MIB, "kill@10;kill@200");
    List<RemoteRegion> ranges = List.of(server.range(0, MIB));
    for (int batch = 1; batch <= 2; batch++) {
      List<CompletableFuture<Answer>> answers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        answers.add(pair.read(server, ranges, LONG_MS));
      }
      for (CompletableFuture<Answer> answer : answers) {
        assertExact(server, ranges, SoftPair.await(answer));
      }
      assertThat(pair.reader.counters().get(TransferCounter.QUEUE_PAIRS_FAILED)).isEqualTo(batch);
    }
  }

  @Test
  void anErrorStatusIsRetriedOnceOnAFreshQueuePair() throws Exception {
    Server server =
        pair.serve("a", MIB, "status@1:REM_OP_ERR;status@3:REM_OP_ERR;status@4:REM_OP_ERR");
    List<RemoteRegion> ranges = List.of(server.range(5, 1000));
    assertExact(server, ranges, SoftPair.await(pair.read(server, ranges, LONG_MS)));
    Answer failed = SoftPair.await(pair.read(server, ranges, LONG_MS));
    assertThat(failed.failure()).hasMessageEndingWith("(REM_OP_ERR)");
    assertFailed(failed, Cause.TRANSPORT);
    assertThat(pair.reader.counters().get(TransferCounter.READ_RETRIES)).isEqualTo(2);
  }

  @Test
  void corruptionOnTheWireIsNotTheEnginesToSee() throws Exception {
    Server server = pair.serve("a", MIB, "corrupt@1");
    List<RemoteRegion> ranges = List.of(server.range(0, 1000));
    Answer answer = SoftPair.await(pair.read(server, ranges, LONG_MS));
    assertThat(answer.failure()).isNull();
    assertThat(answer.target().segment().mismatch(server.memory().asSlice(0, 1000)))
        .isNotEqualTo(-1);
    answer.target().release();
  }

  @Test
  void aSlowAnswerMeetsItsDeadlineAndTheReadsBehindItGoOn() throws Exception {
    Server server = pair.serve("a", MIB, "delay@1:20000");
    List<RemoteRegion> ranges = List.of(server.range(0, 1000));
    CompletableFuture<Answer> late = pair.read(server, ranges, 300);
    CompletableFuture<Answer> behind = pair.read(server, ranges, LONG_MS);
    assertFailed(SoftPair.await(late), Cause.DEADLINE);
    assertExact(server, ranges, SoftPair.await(behind));
    assertThat(pair.reader.counters().get(TransferCounter.BUFFERS_GIVEN_UP)).isZero();
  }

  @Test
  void aPeerThatClosesInMidReadFailsItsReadsAndNotThoseOfOthers() throws Exception {
    Server leaving = pair.serve("leaving", MIB, "delay@3:1000");
    Server staying = pair.serve("staying", MIB, "");
    List<RemoteRegion> fromLeaving = List.of(leaving.range(0, MIB));
    List<RemoteRegion> fromStaying = List.of(staying.range(0, MIB));
    List<CompletableFuture<Answer>> lost = new ArrayList<>();
    List<CompletableFuture<Answer>> kept = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      lost.add(pair.read(leaving, fromLeaving, LONG_MS));
      kept.add(pair.read(staying, fromStaying, LONG_MS));
    }
    leaving.endpoint().close();
    for (CompletableFuture<Answer> answer : kept) {
      assertExact(staying, fromStaying, SoftPair.await(answer));
    }
    for (CompletableFuture<Answer> answer : lost) {
      Answer given = SoftPair.await(answer);
      if (given.failure() == null) {
        assertExact(leaving, fromLeaving, given);
      } else {
        assertThat(given.failure().failure())
            .isIn(Cause.TRANSPORT, Cause.CONNECT, Cause.CIRCUIT_OPEN);
        given.target().release();
      }
    }
  }

  @Test
  void closingWithReadsUnderWayAnswersThemAll() throws Exception {
    Server server = pair.serve("a", MIB, "delay@5:20000");
    List<RemoteRegion> ranges = List.of(server.range(0, MIB));
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      answers.add(pair.read(server, ranges, LONG_MS));
    }
    pair.reader.close();
    for (CompletableFuture<Answer> answer : answers) {
      Answer given = SoftPair.await(answer);
      assertThat(given.failure() == null || given.failure().failure() == Cause.CLOSED).isTrue();
      given.target().release();
    }
    assertThat(pair.reader.buffers().bytesInUse()).isZero();
    pair.reader.close();
  }

  @Test
  void anUnknownPeerCannotBeConnected() throws Exception {
    Server server = pair.serve("a", MIB, "");
    Server unknown =
        new Server(new PeerAddress("b", "localhost", 1), null, server.memory(), server.region());
    List<RemoteRegion> ranges = List.of(server.range(0, 1));
    assertFailed(SoftPair.await(pair.read(unknown, ranges, LONG_MS)), Cause.CONNECT);
  }

  @Test
  void manyThreadsReadFromManyFaultyPeersAndEveryReadIsAnsweredOnce() throws Exception {
    List<Server> servers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      servers.add(
          pair.serve(
              "peer" + i, MIB, "seed=" + i + ";kill=0.002;status=0.002:REM_OP_ERR;delay=0.01:5"));
    }
    int threads = 4;
    int readsPerThread = 400;
    ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Random random = new Random(t);
      running.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      readMany(servers, random, readsPerThread);
                    } catch (Throwable e) {
                      wrong.add(e);
                    }
                  }));
    }
    for (Thread thread : running) {
      thread.join(TimeUnit.SECONDS.toMillis(120));
      assertThat(thread.isAlive()).isFalse();
    }
    assertThat(wrong).isEmpty();
    Counters<TransferCounter> counters = pair.reader.counters();
    long failed =
        counters.get(TransferCounter.READS_TRANSPORT)
            + counters.get(TransferCounter.READS_CONNECT)
            + counters.get(TransferCounter.READS_CIRCUIT_OPEN);
    assertThat(counters.get(TransferCounter.READS_COMPLETED) + failed)
        .isEqualTo((long) threads * readsPerThread);
    assertThat(failed).isLessThan((long) threads * readsPerThread / 10);
    assertThat(pair.reader.buffers().bytesInUse()).isZero();
  }

  private void readMany(List<Server> servers, Random random, int reads) throws Exception {
    Semaphore window = new Semaphore(16);
    ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < reads; i++) {
      assertThat(window.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      Server server = servers.get(random.nextInt(servers.size()));
      List<RemoteRegion> ranges = randomRanges(random, server);
      pair.read(server, ranges, LONG_MS)
          .whenComplete(
              (answer, error) -> {
                try {
                  if (answer.failure() == null) {
                    assertExact(server, ranges, answer);
                  } else {
                    answer.target().release();
                  }
                } catch (Throwable e) {
                  wrong.add(e);
                } finally {
                  window.release();
                }
              });
    }
    assertThat(window.tryAcquire(16, 30, TimeUnit.SECONDS)).isTrue();
    assertThat(wrong).isEmpty();
  }
}
