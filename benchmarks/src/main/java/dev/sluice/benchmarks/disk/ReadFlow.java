// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.disk;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRequest;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps some READs of one region outstanding. The reader's engine thread submits each again when it
 * completes; after a failure, a thread of the common pool does so after a pause. {@link DiskPeers}
 * creates and closes it; that waits for all READs.
 */
final class ReadFlow implements AutoCloseable {
  /** READs that are outstanding at a time. */
  private static final int UNDER_WAY = 8;

  private static final long DEADLINE_SECONDS = 30;
  private static final long PAUSE_MS = 100;

  private final RdmaEndpoint reader;
  private final PeerAddress peer;
  private final RemoteRegion region;
  private final AtomicLong succeeded = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(UNDER_WAY);
  private final Executor later = CompletableFuture.delayedExecutor(PAUSE_MS, TimeUnit.MILLISECONDS);
  private volatile boolean stopped;

  ReadFlow(RdmaEndpoint reader, PeerAddress peer, RemoteRegion region)
      throws IOException, InterruptedException {
    this.reader = reader;
    this.peer = peer;
    this.region = region;
    for (int i = 0; i < UNDER_WAY; i++) {
      new Slot(buffer()).submit();
    }
  }

  private PooledBuffer buffer() throws IOException, InterruptedException {
    try {
      return reader.buffers().acquire((int) region.length(), deadline()).get();
    } catch (ExecutionException e) {
      throw new IOException("acquiring a buffer for READs failed", e);
    }
  }

  private static long deadline() {
    return System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
  }

  /** Returns the number of READs that succeeded so far. */
  long succeeded() {
    return succeeded.get();
  }

  /** Returns the number of READs so far that were refused or not answered in time. */
  long failed() {
    return failed.get();
  }

  /** Returns when no READ is outstanding. */
  @Override
  public void close() {
    stopped = true;
    try {
      if (!ended.await(2 * DEADLINE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "%d READs did not end within %d s".formatted(ended.getCount(), 2 * DEADLINE_SECONDS));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Slot implements ReadListener {
    private final PooledBuffer target;

    Slot(PooledBuffer target) {
      this.target = target;
    }

    void submit() {
      if (stopped) {
        target.release();
        ended.countDown();
      } else {
        reader.read(new ReadRequest(peer, List.of(region), target, 0, deadline(), this));
      }
    }

    @Override
    public void onSuccess() {
      succeeded.incrementAndGet();
      submit();
    }

    @Override
    public void onFailure(ReadException failure) {
      failed.incrementAndGet();
      later.execute(this::submit);
    }
  }
}
