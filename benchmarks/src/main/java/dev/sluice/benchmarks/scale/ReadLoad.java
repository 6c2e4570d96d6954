package dev.sluice.benchmarks.scale;

import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRange;
import dev.sluice.rdma.transfer.ReadRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * READs by one executor, spread evenly over peers: a fixed number is under way, and the answer to
 * one submits the next on the completion thread. One thread at a time measures; {@link #close}
 * gives the buffers back.
 */
final class ReadLoad implements AutoCloseable {
  static final int READ_BYTES = 16;

  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final RdmaEndpoint endpoint;
  private final int ranges;
  private final List<PooledBuffer> buffers = new ArrayList<>();

  /**
   * @param inFlight requests under way at a time
   * @param ranges READs of one request, all from one peer, as a fetch has one for each block
   */
  ReadLoad(RdmaEndpoint endpoint, int inFlight, int ranges)
      throws IOException, InterruptedException {
    this.endpoint = endpoint;
    this.ranges = ranges;
    for (int i = 0; i < inFlight; i++) {
      CompletableFuture<PooledBuffer> buffer = new CompletableFuture<>();
      endpoint.buffers().acquire(ranges * READ_BYTES, deadlineNanos(), buffer::complete);
      buffers.add(await(buffer));
    }
  }

  /** Nanoseconds of one request. */
  long measureOne(NetworkParts peer) throws IOException, InterruptedException {
    return measure(List.of(peer), 1);
  }

  /** Nanoseconds of so many requests, from the peers in turn. */
  long measure(List<NetworkParts> peers, int count) throws IOException, InterruptedException {
    Run run = new Run(peers, count);
    long start = System.nanoTime();
    buffers.forEach(run::submitNext);
    await(run.done);
    return System.nanoTime() - start;
  }

  private static long deadlineNanos() {
    return System.nanoTime() + DEADLINE_NANOS;
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
    try {
      return future.get(2 * DEADLINE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("READs of several peers", e);
    }
  }

  @Override
  public void close() {
    buffers.forEach(PooledBuffer::release);
  }

  /** One measurement. */
  private final class Run {
    private final List<NetworkParts> peers;
    private final int count;
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger completed = new AtomicInteger();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    Run(List<NetworkParts> peers, int count) {
      this.peers = peers;
      this.count = count;
    }

    void submitNext(PooledBuffer buffer) {
      int i = submitted.getAndIncrement();
      if (i >= count) {
        return;
      }
      NetworkParts peer = peers.get(i % peers.size());
      endpoint.read(
          new ReadRequest(
              peer.address(), ranges(peer, i), buffer, deadlineNanos(), answer(buffer)));
    }

    /** Apart from one another, as the blocks of one reducer are. */
    private List<ReadRange> ranges(NetworkParts peer, int request) {
      List<ReadRange> places = new ArrayList<>();
      for (int range = 0; range < ranges; range++) {
        long index = (long) request * ranges + range;
        long offset = 2 * index * READ_BYTES % (NetworkParts.MEMORY_BYTES - READ_BYTES);
        places.add(
            new ReadRange(peer.memory().address() + offset, READ_BYTES, peer.memory().rkey()));
      }
      return places;
    }

    private ReadListener answer(PooledBuffer buffer) {
      return new ReadListener() {
        @Override
        public void onSuccess() {
          if (completed.incrementAndGet() == count) {
            done.complete(null);
          } else {
            submitNext(buffer);
          }
        }

        @Override
        public void onFailure(ReadException failure) {
          done.completeExceptionally(failure);
        }
      };
    }
  }
}
