package dev.sluice.rdma.file;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An open file that many threads read, small pieces of it ahead ({@link ReadAhead}). Its channel is
 * for threads that nobody interrupts: that would close it. Everybody else reads the file itself,
 * which has one position for all, under a lock that nobody who has the channel waits for. Whoever
 * makes it closes it.
 */
public final class SharedFile implements Closeable {
  private final RandomAccessFile file;
  private final FileChannel channel;
  private final ReadAhead ahead;
  private final ReentrantLock reading = new ReentrantLock();

  // Guarded by reading.
  private ReadAhead.Window window;
  private long lastEnd;

  /**
   * @param file whose owner this is from now on
   * @param ahead of all files that share its memory
   */
  public SharedFile(RandomAccessFile file, ReadAhead ahead) {
    this.file = file;
    this.channel = file.getChannel();
    this.ahead = ahead;
  }

  /** For threads that nobody interrupts. */
  public FileChannel channel() {
    return channel;
  }

  /**
   * Any thread, which may be interrupted.
   *
   * @throws EOFException when the file has become shorter
   */
  public void read(long position, byte[] target, int offset, int length) throws IOException {
    reading.lock();
    try {
      if (!readAhead(position, ByteBuffer.wrap(target, offset, length))) {
        file.seek(position);
        file.readFully(target, offset, length);
      }
    } finally {
      reading.unlock();
    }
  }

  /**
   * Fills the buffer. On a thread that nobody interrupts.
   *
   * @throws EOFException when the file has become shorter
   */
  public void read(long position, ByteBuffer target) throws IOException {
    if (!tryReadAhead(position, target)) {
      readChannel(position, target);
    }
  }

  /** Not while another thread has the lock, which perhaps waits for the disk. */
  private boolean tryReadAhead(long position, ByteBuffer target) throws IOException {
    if (!ReadAhead.isFor(target.remaining()) || !reading.tryLock()) {
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

  /**
   * Fills the buffer, and keeps nothing for others. On a thread that nobody interrupts.
   *
   * @throws EOFException when the file has become shorter
   */
  public void readChannel(long from, ByteBuffer target) throws IOException {
    long position = from;
    while (target.hasRemaining()) {
      int count = channel.read(target, position);
      if (count < 0) {
        throw new EOFException("the file ends at " + position);
      }
      position += count;
    }
  }

  /** Some of what is there, which is nothing at the file's end. With the file's lock. */
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

  @Override
  public void close() throws IOException {
    file.close();
  }
}
