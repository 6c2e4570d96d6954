// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.log.LogCapture;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BufferPoolTest {
  private static final int PAGE = 4096;
  private static final int SLAB = 16 * PAGE;
  private static final long CAP = 4 * SLAB;
  private static final long LATER = 1_000;

  private long nowNanos;
  private final ScriptedDevice device = new ScriptedDevice();
  private final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);
  private final BufferPool pool = pool(BufferPool.MAX_BUFFER_BYTES);
  private final List<PooledBuffer> taken = new ArrayList<>();

  @AfterEach
  void close() {
    pool.close();
  }

  private BufferPool pool(int maxBufferBytes) {
    return BufferPool.targets(device, CAP, maxBufferBytes, counters, () -> nowNanos);
  }

  private PooledBuffer acquire(int bytes) {
    int before = taken.size();
    pool.acquire(bytes, LATER, taken::add);
    assertThat(taken).hasSize(before + 1);
    return taken.getLast();
  }

  @Test
  void aBufferHasExactlyTheRequestedSize() {
    for (int bytes : new int[] {1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, SLAB}) {
      PooledBuffer buffer = acquire(bytes);
      assertThat(buffer.segment().byteSize()).isEqualTo(bytes);
      buffer.segment().fill((byte) 1);
      buffer.release();
    }
  }

  @Test
  void takesWholePagesAndNotPowersOfTwo() {
    acquire(5 * PAGE);
    assertThat(pool.bytesInUse()).isEqualTo(5 * PAGE);
    acquire(8 * PAGE);
    acquire(2 * PAGE);
    acquire(PAGE);
    assertThat(pool.registeredBytes()).isEqualTo(SLAB);
  }

  @Test
  void registersForLocalWritesOnlyAndASlabAtATime() {
    assertThat(pool.registeredBytes()).isZero();
    acquire(1);
    assertThat(pool.registeredBytes()).isEqualTo(SLAB);
    assertThat(device.registrations).containsExactly(Set.of(AccessFlag.LOCAL_WRITE));
  }

  @Test
  void refusesSizesThatItNeverHas() {
    assertThat(pool.maxBufferBytes()).isEqualTo(SLAB);
    assertThatIllegalArgumentException().isThrownBy(() -> acquire(0));
    assertThatIllegalArgumentException().isThrownBy(() -> acquire(SLAB + 1));
  }

  @Test
  void freedPagesMergeForAnySize() {
    List<PooledBuffer> small = new ArrayList<>();
    for (int i = 0; i < CAP / PAGE; i++) {
      small.add(acquire(PAGE));
    }
    assertThat(pool.bytesInUse()).isEqualTo(CAP);
    small.forEach(PooledBuffer::release);
    for (int i = 0; i < 4; i++) {
      acquire(SLAB);
    }
    assertThat(pool.registeredBytes()).isEqualTo(CAP);
  }

  @Test
  void waitsInOrderAndIsServedByReleases() {
    List<PooledBuffer> all = fill();
    List<String> order = new ArrayList<>();
    pool.acquire(2 * SLAB / 2, LATER, buffer -> order.add("large"));
    pool.acquire(PAGE, LATER, buffer -> order.add("small"));
    assertThat(order).isEmpty();
    assertThat(counters.get(TransferCounter.BUFFER_WAITS)).isEqualTo(2);
    all.get(0).release();
    assertThat(order).containsExactly("large");
    all.get(1).release();
    assertThat(order).containsExactly("large", "small");
  }

  @Test
  void memoryIsRegisteredInPartsOfTheLargestBuffer() {
    try (BufferPool small = pool(2 * PAGE)) {
      assertThat(small.maxBufferBytes()).isEqualTo(2 * PAGE);
      assertThat(small.maxBytes()).isEqualTo(CAP);
      List<PooledBuffer> all = new ArrayList<>();
      small.acquire(2 * PAGE, LATER, all::add);
      assertThat(small.registeredBytes()).isEqualTo(2 * PAGE);
      small.acquire(PAGE, LATER, all::add);
      assertThat(small.registeredBytes()).isEqualTo(4 * PAGE);
      all.forEach(PooledBuffer::release);
    }
  }

  @Test
  void exhaustionIsLoggedOnceWithItsSetting() {
    assertThatRunningOutIsSaidOnce(pool, "buffers.maxBytes");
    try (BufferPool readable = BufferPool.readable(device, CAP)) {
      assertThatRunningOutIsSaidOnce(readable, "staging.maxBytes");
    }
  }

  private static void assertThatRunningOutIsSaidOnce(BufferPool from, String setting) {
    List<PooledBuffer> all = new ArrayList<>();
    try (LogCapture warnings = new LogCapture(BufferPool.class, Level.WARN)) {
      for (int i = 0; i < CAP / SLAB + 2; i++) {
        from.acquire(SLAB, LATER, all::add);
      }
      assertThat(warnings.messages()).hasSize(1);
      assertThat(warnings.messages().getFirst())
          .startsWith("All " + CAP + " bytes of " + setting + " are in use");
    }
    List.copyOf(all).forEach(PooledBuffer::release);
  }

  @Test
  void aSmallRequestDoesNotOvertakeALargeOneThatWaits() {
    fill().getFirst().release();
    PooledBuffer half = acquire(SLAB / 2);
    List<PooledBuffer> answers = new ArrayList<>();
    pool.acquire(SLAB, LATER, answers::add);
    pool.acquire(PAGE, LATER, answers::add);
    assertThat(answers).isEmpty();
    half.release();
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst().segment().byteSize()).isEqualTo(SLAB);
  }

  @Test
  void aDeadlineAnswersOnceWithNullAndLetsTheNextOneThrough() {
    fill().getFirst().release();
    acquire(SLAB / 2);
    List<PooledBuffer> large = new ArrayList<>();
    List<PooledBuffer> small = new ArrayList<>();
    pool.acquire(SLAB, 10, large::add);
    pool.acquire(PAGE, 20, small::add);
    assertThat(pool.expire(9)).isZero();
    assertThat(pool.expire(10)).isEqualTo(1);
    assertThat(large).containsExactly((PooledBuffer) null);
    assertThat(small).hasSize(1).doesNotContainNull();
    assertThat(pool.expire(30)).isZero();
    assertThat(counters.get(TransferCounter.BUFFERS_DENIED)).isEqualTo(1);
  }

  @Test
  void closingAnswersWaitersAndDeregistersAndKeepsMemoryForTheLastUser() {
    PooledBuffer used = fill().getFirst();
    List<PooledBuffer> answers = new ArrayList<>();
    pool.acquire(PAGE, LATER, answers::add);
    pool.close();
    assertThat(answers).containsExactly((PooledBuffer) null);
    assertThat(device.openRegions).isZero();
    used.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
    taken.forEach(PooledBuffer::release);
    pool.acquire(PAGE, LATER, answers::add);
    assertThat(answers).containsExactly(null, null);
    pool.close();
  }

  @Test
  void detectsADoubleReleaseAndUseAfterIt() {
    PooledBuffer buffer = acquire(PAGE);
    buffer.retain().release();
    buffer.segment();
    buffer.release();
    assertThatIllegalStateException().isThrownBy(buffer::release);
    assertThatIllegalStateException().isThrownBy(buffer::retain);
    assertThatIllegalStateException().isThrownBy(buffer::segment);
    assertThat(pool.bytesInUse()).isZero();
  }

  @Test
  void aDeviceThatRegistersNothingDeniesAtOnce() {
    device.maxRegions = 0;
    assertThat(acquire(PAGE)).isNull();
    assertThat(acquire(PAGE)).isNull();
  }

  @Test
  void aDeviceThatRegistersLessThanTheCapIsUsedAsFarAsItGoes() {
    device.maxRegions = 1;
    PooledBuffer first = acquire(SLAB);
    pool.acquire(PAGE, LATER, taken::add);
    assertThat(taken).hasSize(1);
    first.release();
    assertThat(taken).hasSize(2).doesNotContainNull();
  }

  @Test
  void aShortageThatHasPassedIsForgotten() {
    device.maxRegions = 0;
    assertThat(acquire(PAGE)).isNull();
    device.maxRegions = Integer.MAX_VALUE;
    assertThat(acquire(PAGE)).as("too early").isNull();
    nowNanos += TimeUnit.MILLISECONDS.toNanos(CircuitBreaker.FIRST_MS);
    assertThat(acquire(PAGE)).isNotNull();
  }

  @Test
  void waitingRequestsGetASlabOnceItCanBeRegistered() {
    device.maxRegions = 1;
    PooledBuffer first = acquire(SLAB);
    PooledBuffer[] second = new PooledBuffer[1];
    pool.acquire(SLAB, LATER, buffer -> second[0] = buffer);
    device.maxRegions = Integer.MAX_VALUE;
    nowNanos += TimeUnit.MILLISECONDS.toNanos(CircuitBreaker.FIRST_MS);
    PooledBuffer[] third = new PooledBuffer[1];
    pool.acquire(PAGE, LATER, buffer -> third[0] = buffer);
    first.release();
    assertThat(second[0]).isNotNull();
    assertThat(third[0]).isNotNull();
  }

  @Test
  void takersThatReleaseAtOnceDoNotRecurse() {
    PooledBuffer first = fill().getFirst();
    AtomicInteger served = new AtomicInteger();
    for (int i = 0; i < 100_000; i++) {
      pool.acquire(
          SLAB,
          LATER,
          buffer -> {
            served.incrementAndGet();
            buffer.release();
          });
    }
    first.release();
    assertThat(served).hasValue(100_000);
  }

  @Test
  void aTakerThatThrowsDoesNotKeepOthersFromTheirAnswers() {
    PooledBuffer first = fill().getFirst();
    pool.acquire(
        PAGE,
        LATER,
        buffer -> {
          buffer.release();
          throw new IllegalStateException("expected by the test");
        });
    pool.acquire(PAGE, LATER, taken::add);
    first.release();
    assertThat(taken).hasSize(5).doesNotContainNull();
  }

  @Test
  void randomUseNeverOverlapsAndNeverExceedsTheCap() {
    Random random = new Random(20261120);
    TreeMap<Long, PooledBuffer> live = new TreeMap<>();
    List<PooledBuffer> held = new ArrayList<>();
    int waiting = 0;
    List<PooledBuffer> arrived = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      if (held.isEmpty() || (waiting == 0 && random.nextInt(100) < 55)) {
        int bytes = 1 + random.nextInt(1 << (1 + random.nextInt(16)));
        pool.acquire(bytes, LATER, arrived::add);
        waiting++;
      } else {
        PooledBuffer released = held.remove(random.nextInt(held.size()));
        live.remove(released.segment().address());
        released.release();
      }
      for (PooledBuffer buffer : arrived) {
        long start = buffer.segment().address();
        var before = live.floorEntry(start);
        var behind = live.ceilingEntry(start);
        assertThat(before == null || end(before.getValue()) <= start).isTrue();
        assertThat(behind == null || end(buffer) <= behind.getKey()).isTrue();
        live.put(start, buffer);
        held.add(buffer);
      }
      waiting -= arrived.size();
      arrived.clear();
      assertThat(pool.registeredBytes()).isLessThanOrEqualTo(CAP);
      assertThat(pool.bytesInUse())
          .isEqualTo(held.stream().mapToLong(b -> (long) Slab.pages(b.bytes()) * PAGE).sum());
    }
    held.forEach(PooledBuffer::release);
  }

  @Test
  void threadsThatWaitForOneAnotherAllGetTheirBuffers() throws InterruptedException {
    int threads = 4;
    int rounds = 2_000;
    CountDownLatch answers = new CountDownLatch(threads * rounds);
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Random random = new Random(t);
      running.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < rounds; i++) {
                      pool.acquire(
                          1 + random.nextInt(SLAB),
                          LATER,
                          buffer -> {
                            buffer.segment().fill((byte) 7);
                            buffer.release();
                            answers.countDown();
                          });
                    }
                  }));
    }
    assertThat(answers.await(30, TimeUnit.SECONDS)).isTrue();
    for (Thread thread : running) {
      thread.join(10_000);
    }
    assertThat(pool.bytesInUse()).isZero();
  }

  private static long end(PooledBuffer buffer) {
    return buffer.segment().address() + buffer.segment().byteSize();
  }

  /** Takes the whole pool, in buffers of one slab each. */
  private List<PooledBuffer> fill() {
    for (int i = 0; i < CAP / SLAB; i++) {
      acquire(SLAB);
    }
    return List.copyOf(taken);
  }
}
