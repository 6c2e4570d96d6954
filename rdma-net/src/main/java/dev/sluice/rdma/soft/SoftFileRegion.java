package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.FileRegion;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A registered file: peers READ it at addresses that are no memory's, and nothing else can be done
 * with it. Its channel is for the event loops alone, which nobody interrupts: that would close it.
 * Everybody else reads the file itself, which has one position for all, under a lock that an event
 * loop never waits for. Closed by whoever is the last to use the file, so that the end of the
 * region waits for no disk.
 */
final class SoftFileRegion extends SoftRegion implements FileRegion {
  private final RandomAccessFile file;
  private final FileChannel channel;
  private final ReadAhead ahead;

  /**
   * The region itself, until it is closed, threads that read, and batches; at 0 the file closes.
   */
  private final AtomicInteger users = new AtomicInteger(1);

  private final ReentrantLock reading = new ReentrantLock();

  // Guarded by reading.
  private ReadAhead.Window window;
  private long lastEnd;

  SoftFileRegion(SoftProtectionDomain domain, RandomAccessFile file, long bytes) {
    super(
        domain, domain.device().nextFileAddress(bytes), bytes, EnumSet.of(AccessFlag.REMOTE_READ));
    this.file = file;
    channel = file.getChannel();
    ahead = domain.device().readAhead();
  }

  @Override
  void send(long from, int bytes, FrameBatch batch) throws IOException {
    batch.add(this, from, bytes);
  }

  @Override
  ByteBuffer copy(long from, int bytes) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(bytes);
    readChannel(from - address(), copy);
    return copy.flip();
  }

  @Override
  public void copy(long position, byte[] target, int offset, int length) throws IOException {
    use();
    try {
      reading.lock();
      try {
        if (!readAhead(position, ByteBuffer.wrap(target, offset, length))) {
          file.seek(position);
          file.readFully(target, offset, length);
        }
      } finally {
        reading.unlock();
      }
    } finally {
      unuse();
    }
  }

  /**
   * Fills the buffer. On the event loop.
   *
   * @throws EOFException when the file has become shorter
   */
  void read(long from, ByteBuffer target) throws IOException {
    if (!tryReadAhead(from - address(), target)) {
      readChannel(from - address(), target);
    }
  }

  /** Not while another thread has the lock, which perhaps waits for the disk. */
  private boolean tryReadAhead(long position, ByteBuffer target) throws IOException {
    if (!reading.tryLock()) {
      return false;
    }
    try {
      return readAhead(position, target);
    } finally {
      reading.unlock();
    }
  }

  private boolean readAhead(long position, ByteBuffer target) throws IOException {
    if (!ReadAhead.isFor(target.remaining())) {
      return false;
    }
    long before = lastEnd;
    lastEnd = position + target.remaining();
    return ahead.read(this, before, position, target);
  }

  private void readChannel(long from, ByteBuffer target) throws IOException {
    long position = from;
    while (target.hasRemaining()) {
      int count = channel.read(target, position);
      if (count < 0) {
        throw new EOFException(this + " ends at " + position);
      }
      position += count;
    }
  }

  /** Some of what is there, which is nothing at the file's end. With the region's lock. */
  int readSome(long position, byte[] target) throws IOException {
    file.seek(position);
    return Math.max(0, file.read(target));
  }

  /** A part of the file in memory, as long as it is this file's; null for none. With the lock. */
  ReadAhead.Window window() {
    return window;
  }

  void window(ReadAhead.Window given) {
    window = given;
  }

  /**
   * Sends bytes without a copy of them in this process. On the event loop.
   *
   * @return how many the socket has taken
   * @throws EOFException when the file has become shorter
   */
  int transfer(long from, int bytes, WritableByteChannel socket) throws IOException {
    int sent = (int) channel.transferTo(from - address(), bytes, socket);
    if (sent == 0) {
      requireBytes(from, bytes); // else the socket is full
    }
    return sent;
  }

  /**
   * @throws EOFException when the file has become shorter
   */
  void requireBytes(long from, int bytes) throws IOException {
    long size = channel.size();
    if (size < from - address() + bytes) {
      throw new EOFException(this + " ends at " + size);
    }
  }

  /**
   * The file stays open until {@link #unuse}.
   *
   * @throws IOException when it is closed
   */
  void use() throws IOException {
    if (users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
      throw new IOException(this + " is closed");
    }
  }

  void unuse() {
    if (users.decrementAndGet() == 0) {
      Sockets.close(file);
    }
  }

  @Override
  void release() {
    unuse();
  }
}
