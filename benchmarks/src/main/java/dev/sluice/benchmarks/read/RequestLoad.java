package dev.sluice.benchmarks.read;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * READs through a transfer engine, as the shuffle does them: pooled buffers, a deadline for every
 * request, a fixed number of them under way, and the answer to one submits the next on the
 * completion thread. One thread at a time measures; {@link #close} gives the buffers back.
 */
public final class RequestLoad implements AutoCloseable {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** What one request READs. */
  public record Place(PeerAddress peer, List<RemoteRegion> ranges) {}

  private final RdmaEndpoint endpoint;
  private final List<PooledBuffer> buffers = new ArrayList<>();

  /**
   * @param inFlight requests under way at a time
   * @param bytes of a request at most
   */
  public RequestLoad(RdmaEndpoint endpoint, int inFlight, int bytes)
      throws IOException, InterruptedException {
    this.endpoint = endpoint;
    for (int i = 0; i < inFlight; i++) {
      CompletableFuture<PooledBuffer> buffer = new CompletableFuture<>();
      endpoint.buffers().acquire(bytes, deadlineNanos(), buffer::complete);
      buffers.add(await(buffer));
    }
  }

  /**
   * Nanoseconds of so many requests.
   *
   * @param places what the request of a number READs; called on any thread
   */
  public long measure(int count, IntFunction<Place> places)
      throws IOException, InterruptedException {
    Run run = new Run(count, places);
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
      throw new IOException("READs by an endpoint", e);
    }
  }

  @Override
  public void close() {
    buffers.forEach(PooledBuffer::release);
  }

  /** One measurement: as many chains of requests as there are buffers. */
  private final class Run {
    private final int count;
    private final IntFunction<Place> places;
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger completed = new AtomicInteger();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    Run(int count, IntFunction<Place> places) {
      this.count = count;
      this.places = places;
    }

    void submitNext(PooledBuffer buffer) {
      int i = submitted.getAndIncrement();
      if (i < count) {
        Place place = places.apply(i);
        endpoint.read(
            new ReadRequest(
                place.peer(), place.ranges(), buffer, deadlineNanos(), new Answer(buffer)));
      }
    }

    private final class Answer implements ReadListener {
      private final PooledBuffer buffer;

      Answer(PooledBuffer buffer) {
        this.buffer = buffer;
      }

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
    }
  }
}
