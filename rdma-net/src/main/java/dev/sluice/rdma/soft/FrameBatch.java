package dev.sluice.rdma.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.Arrays;

/**
 * Frames on their way to the socket in one gathering write: headers and small payloads in a buffer
 * of their own, larger payloads straight from registered memory, and at the end one straight from a
 * file. Guarded by the queue pair's lock.
 */
final class FrameBatch {
  /** Up to here a copy costs less than another piece of the gathering write. */
  private static final int MAX_COPIED_BYTES = 4096;

  /** Stands where the last byte of a copy is to be; the payloads that end in it are not copied. */
  private static final byte NOT_COPIED = (byte) 0xA5;

  /** Up to here a file is read into the buffer, for fewer system calls. */
  private static final int MAX_READ_BYTES = 32 << 10;

  private final FrameBuffers pool;

  /** Headers and copied payloads; null while there is nothing to send. */
  private ByteBuffer frames;

  /** How much of {@link #frames} is among the buffers. */
  private int framesTaken;

  private ByteBuffer[] buffers = new ByteBuffer[16];
  private SoftMemoryRegion[] regions = new SoftMemoryRegion[16];
  private int first;
  private int end;
  private int payloadBytes;

  /** What follows the buffers, and stays open until it is sent; null for nothing. */
  private SoftFileRegion file;

  private long fileAddress;
  private int fileBytes;

  FrameBatch(FrameBuffers pool) {
    this.pool = pool;
  }

  /** Whether another frame may be added before the batch is written; a small one finds room. */
  boolean hasRoom() {
    return frames == null
        || file == null
            && frames.remaining() >= FrameHeader.BYTES + MAX_COPIED_BYTES
            && payloadBytes < FrameHeader.MAX_PAYLOAD_BYTES;
  }

  boolean isEmpty() {
    return frames == null && first == end;
  }

  /** Where the next frame's header goes; its payload, if any, is added right after. */
  ByteBuffer header() {
    if (frames == null) {
      frames = pool.take();
    }
    return frames;
  }

  /** Adds memory of a region; of none where {@code region} is null. */
  void add(ByteBuffer buffer, SoftMemoryRegion region) {
    payloadBytes += buffer.remaining();
    if (!copy(buffer)) {
      takeFrames();
      append(buffer, region);
    }
  }

  /**
   * Adds bytes of a file behind their header.
   *
   * @throws IOException when they cannot be read; the batch is as it was
   */
  void add(SoftFileRegion region, long from, int bytes) throws IOException {
    if (bytes <= Math.min(MAX_READ_BYTES, frames.remaining())) {
      read(region, from, bytes);
    } else {
      region.requireBytes(from, bytes);
      region.use();
      file = region;
      fileAddress = from;
      fileBytes = bytes;
    }
    payloadBytes += bytes;
  }

  private void read(SoftFileRegion region, long from, int bytes) throws IOException {
    int start = frames.position();
    try {
      region.read(from, frames.limit(start + bytes));
    } catch (IOException e) {
      frames.position(start);
      throw e;
    } finally {
      frames.limit(frames.capacity());
    }
  }

  /**
   * Copies a small payload behind its header. A fault in mapped memory ends the copy early and is
   * reported at some later time, perhaps after the write; what was not copied to its last byte is
   * therefore left to the gathering write, in which the kernel notices the fault itself.
   */
  private boolean copy(ByteBuffer buffer) {
    int bytes = buffer.remaining();
    if (frames == null || bytes == 0 || bytes > Math.min(MAX_COPIED_BYTES, frames.remaining())) {
      return false;
    }
    int start = frames.position();
    int last = start + bytes - 1;
    frames.put(last, NOT_COPIED);
    frames.put(start, buffer, buffer.position(), bytes);
    if (frames.get(last) == NOT_COPIED) {
      return false;
    }
    frames.position(start + bytes);
    return true;
  }

  /** Frames that follow one another in their buffer are one piece. */
  private void takeFrames() {
    if (frames != null && frames.position() > framesTaken) {
      append(frames.slice(framesTaken, frames.position() - framesTaken), null);
      framesTaken = frames.position();
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
    takeFrames();
    if (first < end) {
      writeBuffers(channel);
    }
    if (first == end && file != null) {
      sendFile(channel);
    }
    if (first == end && file == null) {
      clear();
    }
  }

  private void writeBuffers(GatheringByteChannel channel) throws IOException {
    channel.write(buffers, first, end - first);
    while (first < end && !buffers[first].hasRemaining()) {
      buffers[first] = null;
      regions[first++] = null;
    }
  }

  private void sendFile(GatheringByteChannel channel) throws IOException {
    int sent = file.transfer(fileAddress, fileBytes, channel);
    fileAddress += sent;
    fileBytes -= sent;
    if (fileBytes == 0) {
      forgetFile();
    }
  }

  private void forgetFile() {
    if (file != null) {
      file.unuse();
      file = null;
    }
  }

  /** Makes the rest of the batch independent of memory that is being deregistered. */
  void detach(SoftRegion region) {
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
    framesTaken = 0;
    payloadBytes = 0;
    forgetFile();
    if (frames != null) {
      pool.giveBack(frames);
      frames = null;
    }
  }
}
