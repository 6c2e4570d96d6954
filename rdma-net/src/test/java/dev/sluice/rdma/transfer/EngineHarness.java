// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A {@link ReadEngine} on a {@link ScriptedDevice}. The test runs each turn and sets the clock. */
final class EngineHarness implements QueuePairConnector {
  static final TransferOptions OPTIONS =
      TransferOptions.DEFAULT.with(
          o -> {
            o.bufferPoolBytes = 1 << 20;
            o.maxQueuePairs = 4;
            o.sendQueueDepth = 8;
            o.maxReadBytes = 4096;
            o.connectTimeoutMs = 1_000;
            o.idleTimeoutMs = 60_000;
            o.circuitCooldownMs = 5_000;
          });

  /** One read, its answers and its buffer. */
  final class TestRead implements ReadListener {
    final ReadRequest request;
    final List<Object> answers = new ArrayList<>();

    TestRead(PeerAddress peer, long deadlineNanos, int... lengths) {
      List<RemoteRegion> ranges = new ArrayList<>();
      int total = 0;
      for (int length : lengths) {
        ranges.add(new RemoteRegion(0x10_0000L * (ranges.size() + 1), length, 7));
        total += length;
      }
      List<PooledBuffer> taken = new ArrayList<>();
      buffers.acquire(Math.max(1, total), deadlineNanos, taken::add);
      request = new ReadRequest(peer, ranges, taken.getFirst(), 0, deadlineNanos, this);
      engine.submit(request);
      taken.getFirst().release();
    }

    /** Submits the request again. The caller must hold a reference to the target meanwhile. */
    void again() {
      answers.clear();
      engine.submit(request);
    }

    @Override
    public void onSuccess() {
      answers.add("success");
    }

    @Override
    public void onFailure(ReadException failure) {
      answers.add(failure.failure());
    }

    void assertUnanswered() {
      assertThat(answers).isEmpty();
    }

    void assertSucceeded() {
      assertThat(answers).containsExactly("success");
    }

    void assertFailed(ReadException.Cause cause) {
      assertThat(answers).containsExactly(cause);
    }
  }

  final ScriptedDevice device = new ScriptedDevice();
  final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);
  final BufferPool buffers;
  final TaskQueue tasks;
  final ReadEngine engine;
  final List<CompletableFuture<QueuePairAddress>> exchanges = new ArrayList<>();
  final List<Integer> released = new ArrayList<>();
  boolean connectAtOnce = true;
  Executor connectThreads = Runnable::run;
  long now = 1_000_000_000_000L;
  int wakeUps;

  EngineHarness() {
    this(OPTIONS, 64);
  }

  EngineHarness(TransferOptions options, int completionQueueCapacity) {
    device.capacity = completionQueueCapacity;
    buffers =
        BufferPool.targets(
            device,
            options.bufferPoolBytes(),
            options.maxBufferBytes(),
            counters,
            System::nanoTime);
    tasks = new TaskQueue(counters, () -> wakeUps++);
    ConnectAttempt.Setup setup =
        new ConnectAttempt.Setup(
            device, device, options, this, counters, task -> connectThreads.execute(task));
    Connections connections = new Connections(setup, tasks);
    engine = new ReadEngine(device, connections, buffers, options, counters, tasks, () -> now);
  }

  static PeerAddress peer(String id) {
    return new PeerAddress(id, "host-" + id, 1);
  }

  TestRead read(String peer, int... lengths) {
    return new TestRead(peer(peer), now + TimeUnit.SECONDS.toNanos(30), lengths);
  }

  TestRead readWithin(long deadlineMs, String peer, int... lengths) {
    return new TestRead(peer(peer), now + TimeUnit.MILLISECONDS.toNanos(deadlineMs), lengths);
  }

  /** Runs the engine until it has nothing to do at this time. */
  void run() {
    for (int turns = 0; engine.doWork() > 0; turns++) {
      assertThat(turns).as("the engine comes to rest").isLessThan(10_000);
    }
  }

  void advanceMs(long ms) {
    now += TimeUnit.MILLISECONDS.toNanos(ms);
    engine.doWork(); // The tick is its last step.
    run();
  }

  long count(TransferCounter counter) {
    return counters.get(counter);
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    CompletableFuture<QueuePairAddress> answer = new CompletableFuture<>();
    exchanges.add(answer);
    if (connectAtOnce) {
      answer.complete(device.address(1000 + exchanges.size()));
    }
    return answer;
  }

  @Override
  public void released(PeerAddress peer, int localQpNumber) {
    released.add(localQpNumber);
  }
}
