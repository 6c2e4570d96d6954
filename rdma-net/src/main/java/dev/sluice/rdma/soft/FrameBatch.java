package dev.sluice.rdma.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;

/**
 * Frames on their way to the socket in one gathering write: headers from a buffer of its own,
 * payload straight from registered memory. Guarded by the queue pair's lock.
 */
final class FrameBatch implements BufferSink {
  private static final int MAX_FRAMES = 64;

  private final ByteBuffer headers = ByteBuffer.allocateDirect(MAX_FRAMES * FrameHeader.BYTES);
  private ByteBuffer[] buffers = new ByteBuffer[16];
  private SoftMemoryRegion[] regions = new SoftMemoryRegion[16];
  private int first;
  private int end;
  private int headersTaken;
  private int payloadBytes;

  /** Whether another frame may be added before the batch is written. */
  boolean hasRoom() {
    return headers.remaining() >= FrameHeader.BYTES && payloadBytes < FrameHeader.MAX_PAYLOAD_BYTES;
  }

  boolean isEmpty() {
    return first == end && headers.position() == headersTaken;
  }

  /** Where the next frame's header goes; its payload, if any, is added right after. */
  ByteBuffer header() {
    return headers;
  }

  /** Adds memory of a region; of none where {@code region} is null. */
  @Override
  public void add(ByteBuffer buffer, SoftMemoryRegion region) {
    takeHeaders();
    append(buffer, region);
    payloadBytes += buffer.remaining();
  }

  /** Headers that follow one another without payload are one buffer. */
  private void takeHeaders() {
    int position = headers.position();
    if (position > headersTaken) {
      append(headers.slice(headersTaken, position - headersTaken), null);
      headersTaken = position;
    }
  }

  private void append(ByteBuffer buffer, SoftMemoryRegion region) {
    if (end == buffers.length) {
      buffers = Arrays.copyOf(buffers, 2 * end);
      regions = Arrays.copyOf(regions, 2 * end);
    }
    buffers[end] = buffer;
    regions[end++] = region;
  }

  /** Writes what the socket takes; afterwards the batch is empty or the socket is full. */
  void writeTo(GatheringByteChannel channel) throws IOException {
    takeHeaders();
    channel.write(buffers, first, end - first);
    while (first < end && !buffers[first].hasRemaining()) {
      buffers[first] = null;
      regions[first++] = null;
    }
    if (first == end) {
      clear();
    }
  }

  /** Makes the rest of the batch independent of a region that is being deregistered. */
  void detach(SoftMemoryRegion region) {
    for (int i = first; i < end; i++) {
      if (regions[i] == region) {
        ByteBuffer memory = buffers[i];
        buffers[i] = ByteBuffer.allocate(memory.remaining()).put(memory).flip();
        regions[i] = null;
      }
    }
  }

  void clear() {
    Arrays.fill(buffers, first, end, null);
    Arrays.fill(regions, first, end, null);
    first = 0;
    end = 0;
    headers.clear();
    headersTaken = 0;
    payloadBytes = 0;
  }
}
