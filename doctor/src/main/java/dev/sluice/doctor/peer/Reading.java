// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import static java.util.Objects.requireNonNull;

import dev.sluice.doctor.check.CheckContext;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * READs the memory of a {@link PeerServer} by the shuffle's own engine. It checks the bytes first,
 * and then measures the time. {@link PeerReader} makes one for each peer, and waits in it on its
 * own thread. It releases its buffers; the endpoint is the reader's.
 */
record Reading(RdmaEndpoint endpoint, PeerAddress peer, RemoteRegion region) {
  /** One packet with any MTU. */
  static final int SMALL_BYTES = 64;

  /** Many packets with any MTU. */
  static final int LARGE_BYTES = 1 << 20;

  /** Buffers of {@link #READS_UNDER_WAY} large READs, with room to spare. */
  private static final int POOL_BYTES = 32 << 20;

  private static final int LATENCY_BYTES = 4 << 10;

  /** READs that are not measured: the first ones find code and connections cold. */
  private static final int WARM_UP_READS = 100;

  private static final int LATENCY_READS = 200;
  private static final int READS_UNDER_WAY = 4;

  /** Limit of each measurement, on a path where READs take long. */
  private static final long MEASURED_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Limit of a READ: longer than a queue pair with these options repeats it. */
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(10);

  /** Returns the options of an executor, but with little memory, and quick to give up. */
  static TransferOptions options(CheckContext context) {
    return context
        .rdma()
        .transfer()
        .with(
            o -> {
              o.bufferPoolBytes = Math.min(POOL_BYTES, o.bufferPoolBytes);
              o.connection =
                  o.connection.with(
                      c -> {
                        c.timeoutExponent = 14; // 67 ms; adapters may take four times as long
                        c.retryCount = 5;
                      });
            });
  }

  static void fill(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG, i, mix(i));
    }
  }

  private static long mix(long offset) {
    return offset * 0x9E37_79B9_7F4A_7C15L;
  }

  /**
   * READs from the region's beginning.
   *
   * @return true if all bytes are right
   * @throws IOException if they do not come
   */
  boolean check(int bytes) throws IOException {
    PooledBuffer buffer = acquire(bytes);
    try {
      await(read(0, buffer));
      return isRight(buffer.segment());
    } finally {
      buffer.release();
    }
  }

  private static boolean isRight(MemorySegment read) {
    for (long i = 0; i < read.byteSize(); i += Long.BYTES) {
      if (read.get(ValueLayout.JAVA_LONG, i) != mix(i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the median time of a READ of 4 KiB, in microseconds. */
  double latencyMicros() throws IOException {
    PooledBuffer buffer = acquire(LATENCY_BYTES);
    try {
      repeat(WARM_UP_READS, buffer);
      long[] nanos = repeat(LATENCY_READS, buffer);
      Arrays.sort(nanos);
      return nanos[nanos.length / 2] / 1e3;
    } finally {
      buffer.release();
    }
  }

  /** Returns the times of the given number of READs, or of fewer if the time is over. */
  private long[] repeat(int reads, PooledBuffer buffer) throws IOException {
    long[] nanos = new long[reads];
    long begin = System.nanoTime();
    int done = 0;
    while (done == 0 || done < reads && System.nanoTime() - begin < MEASURED_NS) {
      long start = System.nanoTime();
      await(read(0, buffer));
      nanos[done++] = System.nanoTime() - start;
    }
    return Arrays.copyOf(nanos, done);
  }

  /** Returns the bandwidth of READs of 1 MiB in bytes per second, with several under way. */
  double bandwidth() throws IOException {
    PooledBuffer[] buffers = new PooledBuffer[READS_UNDER_WAY];
    try {
      for (int i = 0; i < buffers.length; i++) {
        buffers[i] = acquire(LARGE_BYTES);
      }
      return bandwidth(buffers);
    } finally {
      for (PooledBuffer buffer : buffers) {
        if (buffer != null) {
          buffer.release();
        }
      }
    }
  }

  /** Measures with these buffers. The buffer of the oldest READ is used for the next one. */
  private double bandwidth(PooledBuffer[] buffers) throws IOException {
    Queue<CompletableFuture<Void>> underWay = new ArrayDeque<>();
    long start = System.nanoTime();
    long reads = 0;
    for (PooledBuffer buffer : buffers) {
      underWay.add(read(0, buffer));
    }
    while (!underWay.isEmpty()) {
      await(underWay.remove());
      if (System.nanoTime() - start < MEASURED_NS) {
        long offset = reads * LARGE_BYTES % region.length();
        underWay.add(read(offset, buffers[(int) (reads % buffers.length)]));
      }
      reads++;
    }
    return reads * LARGE_BYTES * 1e9 / (System.nanoTime() - start);
  }

  private PooledBuffer acquire(int bytes) throws IOException {
    PooledBuffer buffer = await(endpoint.buffers().acquire(bytes, System.nanoTime() + DEADLINE_NS));
    if (buffer == null) {
      throw new IOException("no registered memory for a READ of " + bytes + " bytes");
    }
    return buffer;
  }

  private CompletableFuture<Void> read(long offset, PooledBuffer target) {
    RemoteRegion range =
        new RemoteRegion(region.address() + offset, target.segment().byteSize(), region.rkey());
    return endpoint.read(peer, range, target, System.nanoTime() + DEADLINE_NS);
  }

  private static <T> T await(CompletableFuture<T> answer) throws IOException {
    try {
      return answer.get(2 * DEADLINE_NS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(requireNonNull(e.getCause()).getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer from the READ engine", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
