package dev.sluice.rdma.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;

/**
 * The payload of the frame that a connection is receiving and the registered memory that it goes
 * to. Guarded by the queue pair's lock.
 */
final class Payload {
  private ByteBuffer[] buffers = new ByteBuffer[4];
  private SoftMemoryRegion[] regions = new SoftMemoryRegion[4];
  private int first;
  private int end;
  private long remaining;

  /** Begins a payload that is discarded unless memory is added. */
  void start(int length) {
    discard();
    remaining = length;
  }

  /** Memory that the next bytes go to. */
  void add(ByteBuffer buffer, SoftMemoryRegion region) {
    // One slot is left for the buffer behind the payload.
    if (end + 1 == buffers.length) {
      buffers = Arrays.copyOf(buffers, 2 * buffers.length);
      regions = Arrays.copyOf(regions, 2 * regions.length);
    }
    buffers[end] = buffer;
    regions[end++] = region;
  }

  /** Forgets the memory: what is still to come is thrown away. */
  void discard() {
    Arrays.fill(buffers, 0, end, null);
    Arrays.fill(regions, 0, end, null);
    first = 0;
    end = 0;
  }

  long remaining() {
    return remaining;
  }

  /** Whether bytes can be read from the socket right into memory. */
  boolean hasMemory() {
    return first < end;
  }

  boolean uses(SoftRegion region) {
    for (int i = first; i < end; i++) {
      if (regions[i] == region) {
        return true;
      }
    }
    return false;
  }

  /**
   * Reads the rest of the payload into its memory, and what follows into {@code next}.
   *
   * @return bytes; less than 0 at the end of the stream
   */
  long readFrom(ScatteringByteChannel channel, ByteBuffer next) throws IOException {
    int position = next.position();
    buffers[end] = next;
    long bytes;
    try {
      bytes = channel.read(buffers, first, end - first + 1);
    } finally {
      buffers[end] = null;
    }
    if (bytes > 0) {
      remaining -= bytes - (next.position() - position);
      skipFull();
    }
    return bytes;
  }

  /** Takes bytes that were read together with the header. */
  void take(ByteBuffer in) {
    if (first == end) {
      int skipped = (int) Math.min(remaining, in.remaining());
      in.position(in.position() + skipped);
      remaining -= skipped;
      return;
    }
    while (first < end && in.hasRemaining()) {
      ByteBuffer target = buffers[first];
      int bytes = Math.min(target.remaining(), in.remaining());
      target.put(target.position(), in, in.position(), bytes);
      target.position(target.position() + bytes);
      in.position(in.position() + bytes);
      remaining -= bytes;
      skipFull();
    }
  }

  private void skipFull() {
    while (first < end && !buffers[first].hasRemaining()) {
      buffers[first] = null;
      regions[first++] = null;
    }
  }
}
