package dev.sluice.benchmarks.read;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRange;
import dev.sluice.rdma.transfer.ReadRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * READs through the transfer engine, as the shuffle does them: pooled buffers, a deadline for every
 * request, and the answer on the completion thread, which submits the next one.
 */
final class EndpointPartner implements Partner, QueuePairConnector {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final PeerProcess peer;
  private final PeerAddress address = new PeerAddress("peer", "localhost", 0);
  private final RdmaEndpoint endpoint;
  private final RemoteRegion memory;

  EndpointPartner(PeerProcess peer, RemoteRegion memory) throws IOException {
    this.peer = peer;
    this.memory = memory;
    endpoint = RdmaEndpoint.open(Fabric.openDevice(), Fabric.TRANSFER_OPTIONS, this);
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress ignored, String providerName, QueuePairAddress local) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return peer.connect(ControlMessages.ENDPOINT, local);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Override
  public String name() {
    return "endpoint";
  }

  @Override
  public long measure(Workload workload, int count) throws IOException, InterruptedException {
    List<PooledBuffer> buffers = new ArrayList<>();
    try {
      for (int i = 0; i < workload.inFlight(); i++) {
        buffers.add(acquire(workload.bytes()));
      }
      Run run = new Run(workload, count);
      long start = System.nanoTime();
      buffers.forEach(run::submitNext);
      await(run.done);
      return System.nanoTime() - start;
    } finally {
      buffers.forEach(PooledBuffer::release);
    }
  }

  private PooledBuffer acquire(int bytes) throws IOException, InterruptedException {
    CompletableFuture<PooledBuffer> buffer = new CompletableFuture<>();
    endpoint.buffers().acquire(bytes, deadlineNanos(), buffer::complete);
    return await(buffer);
  }

  private static long deadlineNanos() {
    return System.nanoTime() + DEADLINE_NANOS;
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
    try {
      return future.get(2 * DEADLINE_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("READs by the endpoint", e);
    }
  }

  /** One measurement: as many chains of requests as there are buffers. */
  private final class Run {
    private final Workload workload;
    private final int count;
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger completed = new AtomicInteger();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    Run(Workload workload, int count) {
      this.workload = workload;
      this.count = count;
    }

    void submitNext(PooledBuffer buffer) {
      int i = submitted.getAndIncrement();
      if (i >= count) {
        return;
      }
      ReadRange range =
          new ReadRange(
              memory.address() + workload.offset(i, memory.length()),
              workload.bytes(),
              memory.rkey());
      endpoint.read(
          new ReadRequest(address, List.of(range), buffer, deadlineNanos(), new Answer(buffer)));
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

  @Override
  public void close() {
    endpoint.close();
  }
}
