package dev.sluice.benchmarks.read;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * What a plain TCP connection can do with one thread at each end: requests of 16 bytes go out, the
 * bytes come back in order, as many requests under way as the READs have.
 */
final class SocketPartner implements Partner {
  private final SocketChannel channel;
  private final long memoryBytes;
  private final ByteBuffer requests =
      ByteBuffer.allocateDirect(SeamPartner.MAX_IN_FLIGHT * SocketResponder.REQUEST_BYTES);
  private final ByteBuffer target = ByteBuffer.allocateDirect(8 << 20);

  SocketPartner(SocketChannel channel, long memoryBytes) throws IOException {
    this.channel = channel;
    this.memoryBytes = memoryBytes;
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  @Override
  public String name() {
    return "socket";
  }

  @Override
  public long measure(Workload workload, int count) throws IOException {
    long start = System.nanoTime();
    long requested = 0;
    long received = 0;
    long total = (long) count * workload.bytes();
    while (received < total) {
      long done = received / workload.bytes();
      long allowed = Math.min(count, done + workload.inFlight());
      requested = request(workload, requested, allowed);
      target.clear().limit((int) Math.min(target.capacity(), windowBytes(workload)));
      int read = channel.read(target);
      if (read < 0) {
        throw new EOFException("the peer has closed the plain connection");
      }
      received += read;
    }
    return System.nanoTime() - start;
  }

  private static long windowBytes(Workload workload) {
    return (long) workload.inFlight() * workload.bytes();
  }

  private long request(Workload workload, long from, long to) throws IOException {
    requests.clear();
    for (long i = from; i < to; i++) {
      requests.putLong(workload.offset(i, memoryBytes)).putLong(workload.bytes());
    }
    requests.flip();
    while (requests.hasRemaining()) {
      channel.write(requests);
    }
    return to;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
