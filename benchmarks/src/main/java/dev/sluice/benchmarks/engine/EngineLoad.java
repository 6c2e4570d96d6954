// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.engine;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint that READs from itself as fast as its engine can. It keeps a fixed number of requests
 * to some peers outstanding. The engine's thread submits each request again when it completes, so
 * that no other thread takes part. {@link EngineCommand} creates it, measures on one thread, and
 * closes it; that closes the device, too.
 */
final class EngineLoad implements QueuePairConnector, AutoCloseable {
  /** Peers, each with queue pairs of its own, among which the requests are spread evenly. */
  private static final int PEERS = 8;

  /** Outstanding requests for READs of up to 256 KiB; larger ones fill the buffer pool before. */
  private static final int MOST_REQUESTS = 256;

  /** Bytes of the buffer pool. READs of 1 MiB fill it with 64 requests. */
  private static final int MOST_BYTES = 64 << 20;

  /** Deadline of a request: longer than any measurement, so that no READ ends by it. */
  private static final long DEADLINE_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final long PATIENCE_SECONDS = 60;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Arena arena = Arena.ofShared();
  private final RdmaEndpoint endpoint;
  private final MemoryRegion region;

  /** Takes ownership of the device. */
  EngineLoad(Device device) throws IOException {
    endpoint =
        RdmaEndpoint.open(
            device, TransferOptions.DEFAULT.with(o -> o.bufferPoolBytes = MOST_BYTES), this);
    region =
        endpoint
            .protectionDomain()
            .register(arena.allocate(1 << 20), Set.of(AccessFlag.REMOTE_READ));
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    return endpoint.accept(peer.id(), local);
  }

  /** Figures of the engine's thread; allocated early, so that allocation is not measured. */
  private final class Reading {
    private long nanos;
    private long cpuNanos;
    private long posts;

    void take() {
      nanos = System.nanoTime();
      cpuNanos = THREADS.getCurrentThreadCpuTime();
      posts = endpoint.counters().get(TransferCounter.POSTS);
    }
  }

  /**
   * Cost of READs.
   *
   * @param cpuNanos CPU time of the engine's thread, including the adapter, which it calls
   * @param posts number of chains in which the READs were posted
   */
  record Sample(long reads, long nanos, long cpuNanos, long posts) {
    private static Sample between(long reads, Reading start, Reading end) {
      return new Sample(
          reads, end.nanos - start.nanos, end.cpuNanos - start.cpuNanos, end.posts - start.posts);
    }

    double thousandsPerSecond() {
      return reads * 1e6 / nanos;
    }

    int meanChain() {
      return (int) Math.max(1, reads / posts);
    }
  }

  /**
   * Makes the engine READ so many pieces. READs that are not measured precede them as a warm-up and
   * follow them, so that the engine is busy to the end. Not to be called by two threads at once.
   */
  Sample measure(int bytes, long reads) throws IOException, InterruptedException {
    Run run = new Run(bytes, reads);
    run.slots.forEach(Slot::submit);
    return run.await();
  }

  private PooledBuffer buffer(int bytes) throws IOException, InterruptedException {
    return await(endpoint.buffers().acquire(bytes, System.nanoTime() + DEADLINE_NANOS));
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
    try {
      return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("the engine did not complete its READs", e);
    }
  }

  /** One measurement; READs continue until its end is reached. */
  private final class Run {
    private final long reads;
    private final List<PooledBuffer> buffers = new ArrayList<>();
    private final List<Slot> slots = new ArrayList<>();
    private final CompletableFuture<Sample> done = new CompletableFuture<>();

    // Fields of the engine's thread; the future hands the sample over. "first" counts the READs
    // of eight rounds, which are warm-up and not measured.
    private final long first;
    private long answered;
    private int ended;
    private final Reading start = new Reading();
    private final Reading end = new Reading();
    private @Nullable Sample sample;

    Run(int bytes, long reads) throws IOException, InterruptedException {
      this.reads = reads;
      int count = Math.min(MOST_REQUESTS, MOST_BYTES / bytes);
      first = 8L * count;
      List<RemoteRegion> ranges = List.of(new RemoteRegion(region.address(), bytes, region.rkey()));
      for (int i = 0; i < count; i++) {
        buffers.add(buffer(bytes));
        slots.add(new Slot(this, "peer-" + i % PEERS, ranges, buffers.getLast()));
      }
    }

    Sample await() throws IOException, InterruptedException {
      try {
        return EngineLoad.await(done);
      } finally {
        buffers.forEach(PooledBuffer::release);
      }
    }

    /**
     * @return true if there is more to READ
     */
    private boolean answered() {
      answered++;
      if (answered == first) {
        start.take();
      } else if (answered == first + reads) {
        end.take();
        sample = Sample.between(reads, start, end);
      }
      return sample == null;
    }

    private void ended() {
      if (++ended == slots.size()) {
        done.complete(sample);
      }
    }
  }

  /** A request that the engine's thread submits again at each completion, until the run is over. */
  private final class Slot implements ReadListener {
    private final Run run;
    private final ReadRequest request;

    Slot(Run run, String peer, List<RemoteRegion> ranges, PooledBuffer target) {
      this.run = run;
      request =
          new ReadRequest(
              new PeerAddress(peer, "localhost", 1),
              ranges,
              target,
              0,
              System.nanoTime() + DEADLINE_NANOS,
              this);
    }

    void submit() {
      endpoint.read(request);
    }

    @Override
    public void onSuccess() {
      if (run.answered()) {
        submit();
      } else {
        run.ended();
      }
    }

    @Override
    public void onFailure(ReadException failure) {
      run.done.completeExceptionally(failure);
    }
  }

  @Override
  public void close() {
    region.close();
    endpoint.close();
    arena.close();
  }
}
