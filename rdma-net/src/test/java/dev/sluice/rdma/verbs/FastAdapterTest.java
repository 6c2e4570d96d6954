// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.rdma.transfer.TransferOptions;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Runs the engine on an adapter that completes READs after a set time and copies nothing. */
class FastAdapterTest extends FakeAdaptersTestCase {
  private static final int REQUESTS = 64;
  private static final int PEERS = 4;
  private static final int READS = 50_000;
  private static final int MAX_ROUNDS = 200;
  private static final long DEADLINE_SECONDS = 30;

  /** Holds once the JIT compiler has done its work. */
  @Test
  void readsAllocateNothing() throws Exception {
    latency(5_000);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open())) {
      List<PooledBuffer> buffers = new ArrayList<>();
      Rounds rounds = new Rounds(loopback);
      for (int i = 0; i < REQUESTS; i++) {
        buffers.add(loopback.buffer());
        rounds.begin("peer-" + i % PEERS, buffers.getLast());
      }
      assertThat(rounds.done.get(DEADLINE_SECONDS, TimeUnit.SECONDS))
          .as("bytes that the engine's thread allocated for %s READs", READS)
          .isZero();
      buffers.forEach(PooledBuffer::release);
    }
  }

  /** Submits each request again after its answer, until one round has allocated nothing. */
  private static final class Rounds {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final CompletableFuture<Long> done = new CompletableFuture<>();
    private final LoopbackEndpoint loopback;

    // Used by the engine's thread.
    private int answered;
    private int ended;
    private int rounds;
    private long allocated = -1;
    private long before;

    Rounds(LoopbackEndpoint loopback) {
      this.loopback = loopback;
    }

    void begin(String peer, PooledBuffer target) {
      loopback.endpoint.read(new Again(peer, target).request);
    }

    private final class Again implements ReadListener {
      private final ReadRequest request;

      Again(String peer, PooledBuffer target) {
        request = loopback.request(peer, loopback.rkey(), target, this);
      }

      @Override
      public void onSuccess() {
        if (goesOn()) {
          loopback.endpoint.read(request);
        } else if (++ended == REQUESTS) {
          done.complete(allocated);
        }
      }

      @Override
      public void onFailure(ReadException failure) {
        done.completeExceptionally(failure);
      }
    }

    private boolean goesOn() {
      boolean over = allocated == 0 || rounds == MAX_ROUNDS;
      if (!over && ++answered % READS == 0) {
        long now = threads.getCurrentThreadAllocatedBytes();
        allocated = rounds++ == 0 ? -1 : now - before;
        before = now;
      }
      return !over;
    }
  }

  @Test
  void theEngineSleepsUntilItIsTime() throws Exception {
    latency(TimeUnit.MILLISECONDS.toNanos(20));
    TransferOptions options =
        TransferOptions.DEFAULT.with(
            o -> {
              o.bufferPoolBytes = 1 << 20;
              o.spinMicros = 0;
            });
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(), options)) {
      LoopbackEndpoint.Answer answer = loopback.read();
      answer.done().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      answer.buffer().release();
      assertThat(loopback.endpoint.counters().get(TransferCounter.SLEEPS)).isPositive();
      assertThat(events()).as("events of the completion channel").isPositive();
    }
  }

  private void latency(long nanos) throws Exception {
    adapters.set(0, "latency_ns", nanos);
    adapters.set(1, "latency_ns", nanos);
  }

  private long events() throws Exception {
    return adapters.get(0, "get_cq_event") + adapters.get(1, "get_cq_event");
  }
}
