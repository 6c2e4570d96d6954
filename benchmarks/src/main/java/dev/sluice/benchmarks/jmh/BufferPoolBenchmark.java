package dev.sluice.benchmarks.jmh;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A buffer of 64 KiB from the pool and back, with 1,000 others in use, beside a stack of ready ones
 * under a lock.
 */
@State(Scope.Thread)
public class BufferPoolBenchmark {
  private static final int BYTES = 64 << 10;
  private static final int OTHERS = 1000;
  private static final TransferOptions OPTIONS =
      new TransferOptions(
          256 << 20, 16, 128, 1 << 20, 5_000, 60_000, 3, 60_000, 20, ConnectionAttributes.DEFAULT);

  private final Deque<ByteBuffer> plain = new ArrayDeque<>();
  private RdmaEndpoint endpoint;
  private PooledBuffer acquired;

  @Setup
  public void takeOthers() throws IOException {
    endpoint =
        RdmaEndpoint.open(
            new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress()),
            OPTIONS,
            (peer, _, _) -> CompletableFuture.failedFuture(new IOException("no way to " + peer)));
    for (int i = 0; i < OTHERS; i++) {
      take();
      if (acquired == null) {
        throw new IOException("the pool is too small");
      }
    }
    plain.push(ByteBuffer.allocateDirect(BYTES));
  }

  private void take() {
    endpoint.buffers().acquire(BYTES, Long.MAX_VALUE, buffer -> acquired = buffer);
  }

  @TearDown
  public void close() {
    endpoint.close();
  }

  @Benchmark
  public void acquireAndRelease() {
    take();
    acquired.release();
  }

  @Benchmark
  public ByteBuffer acquireAndReleaseBaseline() {
    ByteBuffer buffer;
    synchronized (plain) {
      buffer = plain.pop();
    }
    synchronized (plain) {
      plain.push(buffer);
    }
    return buffer;
  }
}
