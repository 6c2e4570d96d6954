package dev.sluice.rdma.transfer;

import dev.sluice.rdma.transfer.SoftPair.Server;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures whole endpoints on the software provider over loopback, both sides in one JVM: a stream
 * of 1 MiB READs, 4 KiB READs with 64 in flight, and the latency of one READ of 16 bytes.
 */
public final class EngineMeasurement {
  private static final int SERVED_BYTES = 16 << 20;
  private static final long WARM_UP_MS = 2_000;
  private static final long MEASURE_MS = 3_000;

  private EngineMeasurement() {}

  public static void main(String[] args) throws Exception {
    try (SoftPair pair = new SoftPair(SoftPair.OPTIONS)) {
      Server server = pair.serve("a", SERVED_BYTES, "");
      measure(pair, server, 1 << 20, 8);
      measure(pair, server, 4 << 10, 64);
      measure(pair, server, 16, 1);
    }
  }

  private static void measure(SoftPair pair, Server server, int bytes, int inFlight)
      throws InterruptedException {
    run(pair, server, bytes, inFlight, WARM_UP_MS);
    long start = System.nanoTime();
    List<Long> latencies = run(pair, server, bytes, inFlight, MEASURE_MS);
    double seconds = (System.nanoTime() - start) / 1e9;
    latencies.sort(null);
    System.out.printf(
        "%7d bytes, %2d in flight: %8.0f READs/s %7.1f MB/s, us p50 %.1f p99 %.1f%n",
        bytes,
        inFlight,
        latencies.size() / seconds,
        latencies.size() * (double) bytes / seconds / 1e6,
        latencies.get(latencies.size() / 2) / 1e3,
        latencies.get(latencies.size() * 99 / 100) / 1e3);
  }

  /** Latencies in nanoseconds. */
  private static List<Long> run(
      SoftPair pair, Server server, int bytes, int inFlight, long durationMs)
      throws InterruptedException {
    Semaphore window = new Semaphore(inFlight);
    List<Long> latencies = new ArrayList<>();
    AtomicLong failures = new AtomicLong();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(durationMs);
    for (long offset = 0; System.nanoTime() < end; offset = (offset + bytes) % SERVED_BYTES) {
      window.acquire();
      long from = offset;
      long deadline = end + TimeUnit.SECONDS.toNanos(30);
      pair.reader
          .buffers()
          .acquire(
              bytes,
              deadline,
              target ->
                  pair.reader.read(
                      new ReadRequest(
                          server.address(),
                          List.of(server.range(from, bytes)),
                          target,
                          deadline,
                          listener(target, window, latencies, failures))));
    }
    window.acquire(inFlight); // after which the list is this thread's
    if (failures.get() > 0) {
      throw new IllegalStateException(failures + " READs failed");
    }
    return latencies;
  }

  /** Adds to {@code latencies} on the completion thread alone. */
  private static ReadListener listener(
      PooledBuffer target, Semaphore window, List<Long> latencies, AtomicLong failures) {
    long start = System.nanoTime();
    return new ReadListener() {
      @Override
      public void onSuccess() {
        latencies.add(System.nanoTime() - start);
        target.release();
        window.release();
      }

      @Override
      public void onFailure(ReadException failure) {
        failures.incrementAndGet();
        target.release();
        window.release();
      }
    };
  }
}
