// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Frames for one gathering write to the socket. Headers and small payloads are in a buffer of the
 * batch. Larger payloads come directly from registered memory, and the last one may come directly
 * from a file. A {@link SoftConnection} has one; {@link Initiator} and {@link Responder} add frames
 * to it. Guarded by the queue pair's lock. It takes its buffers from {@link FrameBuffers}; {@link
 * #clear} gives them back and lets go of the file.
 */
final class FrameBatch {
  /** Up to this size a copy costs less than another buffer of the gathering write. */
  private static final int MAX_COPIED_BYTES = 4096;

  /** Value put at the end of a copy beforehand. A payload that ends in this value is not copied. */
  private static final byte NOT_COPIED = (byte) 0xA5;

  /** Up to this size a file is read into the buffer, for fewer system calls. */
  private static final int MAX_READ_BYTES = 32 << 10;

  private final FrameBuffers pool;

  /** Headers and copied payloads; null while there is nothing to send. */
  private @Nullable ByteBuffer frames;

  /** Bytes of {@link #frames} that are among the buffers already. */
  private int framesTaken;

  private ByteBuffer[] buffers = new ByteBuffer[16];
  private SoftMemoryRegion[] regions = new SoftMemoryRegion[16];
  private int first;
  private int end;
  private int payloadBytes;

  /** File that follows the buffers, kept open until it is sent; null if there is none. */
  private @Nullable SoftFileRegion file;

  private long fileAddress;
  private int fileBytes;

  /** Last of the buffers, with bytes read from a disk. Returns to the pool once it is sent. */
  private @Nullable ByteBuffer chunk;

  FrameBatch(FrameBuffers pool) {
    this.pool = pool;
  }

  /**
   * Returns true if another frame may be added before the batch is written. A small one then fits.
   */
  boolean hasRoom() {
    return frames == null
        || file == null
            && chunk == null
            && frames.remaining() >= FrameHeader.BYTES + MAX_COPIED_BYTES
            && payloadBytes < FrameHeader.MAX_PAYLOAD_BYTES;
  }

  boolean isEmpty() {
    return frames == null && first == end;
  }

  /** Buffer for the next frame's header. A payload, if any, has to be added next. */
  ByteBuffer header() {
    if (frames == null) {
      frames = pool.take();
    }
    return frames;
  }

  /** Adds memory of a region, or other memory if {@code region} is null. */
  void add(ByteBuffer buffer, @Nullable SoftMemoryRegion region) {
    payloadBytes += buffer.remaining();
    if (!copy(buffer)) {
      takeFrames();
      append(buffer, region);
    }
  }

  /**
   * Adds a buffer of the pool behind its header. The buffer returns to the pool once it is sent.
   */
  void addChunk(ByteBuffer read) {
    payloadBytes += read.remaining();
    if (copy(read)) {
      pool.giveBack(read);
    } else {
      takeFrames();
      append(read, null);
      chunk = read;
    }
  }

  /**
   * Adds cached bytes of a file behind their header. A page may be evicted before the socket takes
   * it. The event loop then waits for the disk, for this frame only.
   *
   * @return number of bytes added; 0 if the page cache lacks the first ones, or that is unknown.
   *     The batch is unchanged then.
   * @throws IOException if the bytes cannot be read; the batch is unchanged
   */
  int add(SoftFileRegion region, long from, int bytes) throws IOException {
    if (bytes <= Math.min(MAX_READ_BYTES, header().remaining())) {
      if (!read(region, from, bytes)) {
        return 0;
      }
      payloadBytes += bytes;
      return bytes;
    }
    int cached = region.cachedBytes(from, bytes);
    if (cached < Math.min(bytes, FrameBuffers.BYTES)) {
      return addCopy(region, from, Math.min(bytes, FrameBuffers.BYTES));
    }
    region.requireBytes(from, cached);
    region.use();
    file = region;
    fileAddress = from;
    fileBytes = cached;
    payloadBytes += cached;
    return cached;
  }

  /** Adds a copy, for file systems where only a read tells if bytes are cached. */
  private int addCopy(SoftFileRegion region, long from, int bytes) throws IOException {
    ByteBuffer copy = pool.take();
    boolean read = false;
    try {
      read = region.readCached(from, copy.limit(bytes));
    } finally {
      if (!read) {
        pool.giveBack(copy);
      }
    }
    if (read) {
      addChunk(copy.flip());
    }
    return read ? bytes : 0;
  }

  private boolean read(SoftFileRegion region, long from, int bytes) throws IOException {
    ByteBuffer into = header();
    int start = into.position();
    boolean read = false;
    try {
      read = region.readCached(from, into.limit(start + bytes));
    } finally {
      into.limit(into.capacity());
      if (!read) {
        into.position(start);
      }
    }
    return read;
  }

  /**
   * Copies a small payload behind its header. A fault in mapped memory ends the copy early and is
   * reported later, perhaps after the write. A payload that is not copied to its last byte is
   * therefore left to the gathering write, where the kernel notices the fault itself.
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

  /** Appends the frames since the last call as one buffer. */
  private void takeFrames() {
    if (frames != null && frames.position() > framesTaken) {
      append(frames.slice(framesTaken, frames.position() - framesTaken), null);
      framesTaken = frames.position();
    }
  }

  private void append(ByteBuffer buffer, @Nullable SoftMemoryRegion region) {
    if (end == buffers.length) {
      buffers = Arrays.copyOf(buffers, 2 * end);
      regions = Arrays.copyOf(regions, 2 * end);
    }
    buffers[end] = buffer;
    regions[end++] = region;
  }

  /** Writes as much as the socket takes. Afterwards the batch is empty or the socket is full. */
  void writeTo(GatheringByteChannel channel) throws IOException {
    takeFrames();
    if (first < end) {
      writeBuffers(channel);
    }
    if (first == end && file != null) {
      sendFile(file, channel);
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

  private void sendFile(SoftFileRegion region, GatheringByteChannel channel) throws IOException {
    int sent = region.transfer(fileAddress, fileBytes, channel);
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

  /** Copies the unsent bytes of a region that is being deregistered. */
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
    if (chunk != null) {
      pool.giveBack(chunk);
      chunk = null;
    }
    if (frames != null) {
      pool.giveBack(frames);
      frames = null;
    }
  }

  /**
   * Pool of direct buffers for frames that the connections of one event loop send. The {@link
   * EventLoop} has it. {@link FrameBatch} takes and gives back on the loop's thread and on posting
   * threads, {@link DiskReaders} on a disk's thread. {@link Responder} gives back the bytes of
   * dropped answers.
   *
   * <p>A taker owns its buffer and gives it back once, after its last use. The garbage collector
   * frees one that is lost. {@link #take} has no limit. Callers may hold the lock of a queue pair;
   * the pool's own lock guards its list only. Nothing to close. A connection holds one buffer for
   * headers and small payloads until its socket has taken them, and a second one for bytes from a
   * disk. Cost: 128 MiB for 1,000 peers that do not receive.
   */
  static final class FrameBuffers {
    static final int BYTES = 64 << 10;

    /** Limit of spare buffers; the garbage collector frees the others. */
    private static final int MAX_SPARE = 16;

    private final ArrayDeque<ByteBuffer> spare = new ArrayDeque<>();

    synchronized ByteBuffer take() {
      ByteBuffer buffer = spare.poll();
      return buffer == null ? ByteBuffer.allocateDirect(BYTES) : buffer.clear();
    }

    synchronized void giveBack(ByteBuffer buffer) {
      if (spare.size() < MAX_SPARE) {
        spare.push(buffer);
      }
    }
  }
}
