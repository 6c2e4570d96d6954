// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import dev.sluice.rdma.StoredFile;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An open file that many threads read: of the stager, of tasks, or registered with the software
 * provider. Reads ahead after small pieces ({@link ReadAhead}). Any thread; each method says
 * whether it may be interrupted. Its creator closes it after the last read.
 */
public final class SharedFile implements Closeable {
  /** Reads some bytes, as a channel does; 0 if only cached bytes are wanted and there are none. */
  private interface Bytes {
    int read(long position, ByteBuffer target, boolean cached) throws IOException;
  }

  private final Closeable file;

  /** For threads that are never interrupted: an interrupt would close a channel. */
  private final Bytes channel;

  /** For all other threads, with arrays. They share the file's one position, under the lock. */
  private final Bytes bytes;

  private final ReadAhead ahead;

  /** Threads that use the channel never wait for this lock. */
  private final ReentrantLock reading = new ReentrantLock();

  // Guarded by reading.
  private ReadAhead.@Nullable Window window;
  private long lastEnd;
  private boolean missed;

  private SharedFile(Closeable file, Bytes channel, Bytes bytes, ReadAhead ahead) {
    this.file = file;
    this.channel = channel;
    this.bytes = bytes;
    this.ahead = ahead;
  }

  /**
   * Takes over an open file.
   *
   * @param ahead shared by all files of the owner
   */
  public SharedFile(StoredFile file, ReadAhead ahead) {
    this(file, file::read, file::readArray, ahead);
  }

  /** Opens a file, by its descriptor if that works. */
  public static SharedFile open(Path path, ReadAhead ahead) throws IOException {
    FileFd fd = FileFd.tryOpen(path);
    return fd == null
        ? new SharedFile(new DiskFile(new RandomAccessFile(path.toFile(), "r")), ahead)
        : new SharedFile(fd, fd::read, fd::read, ahead);
  }

  /**
   * Reads bytes into an array. Any thread, even an interrupted one.
   *
   * @throws EOFException if the file has become shorter
   */
  public void read(long position, byte[] target, int offset, int length) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(target, offset, length);
    reading.lock();
    try {
      if (!readAhead(position, buffer, false)) {
        readAll(bytes, position, buffer, false);
      }
    } finally {
      reading.unlock();
    }
  }

  /**
   * Fills the buffer. The calling thread must not be interrupted.
   *
   * @throws EOFException if the file has become shorter
   */
  public void read(long position, ByteBuffer target) throws IOException {
    read(position, target, false);
  }

  /**
   * Fills the buffer, like {@link #read(long, ByteBuffer)}.
   *
   * @param cached true to avoid waiting for the disk, if the file system can tell
   * @return false if the page cache lacks bytes; the buffer then holds some of them
   */
  public boolean read(long position, ByteBuffer target, boolean cached) throws IOException {
    return tryReadAhead(position, target, cached) || readAll(channel, position, target, cached);
  }

  /**
   * Skips read-ahead while another thread holds the lock, since that thread may wait for a disk.
   */
  private boolean tryReadAhead(long position, ByteBuffer target, boolean cached)
      throws IOException {
    if (!ReadAhead.isFor(target.remaining()) || !reading.tryLock()) {
      return false;
    }
    try {
      return readAhead(position, target, cached);
    } finally {
      reading.unlock();
    }
  }

  private boolean readAhead(long position, ByteBuffer target, boolean cached) throws IOException {
    if (!ReadAhead.isFor(target.remaining())) {
      return false;
    }
    long before = lastEnd;
    lastEnd = position + target.remaining();
    missed = false;
    return ahead.read(this, before, position, target, cached);
  }

  /**
   * Fills the buffer without reading ahead. The calling thread must not be interrupted.
   *
   * @throws EOFException if the file has become shorter
   */
  public void readChannel(long from, ByteBuffer target) throws IOException {
    readAll(channel, from, target, false);
  }

  private static boolean readAll(Bytes file, long from, ByteBuffer target, boolean cached)
      throws IOException {
    long position = from;
    while (target.hasRemaining()) {
      int count = file.read(position, target, cached);
      if (count < 0) {
        throw new EOFException("the file ends at byte " + position);
      }
      if (count == 0) {
        return false;
      }
      position += count;
    }
    return true;
  }

  /** Reads some bytes, none at the file's end. The caller holds the file's lock. */
  int readSome(long position, byte[] target, boolean cached) throws IOException {
    int count = Math.max(0, bytes.read(position, ByteBuffer.wrap(target), cached));
    missed = cached && count < target.length;
    if (missed) {
      lastEnd = position; // A thread that may wait asks for it again, and reads ahead then.
    }
    return count;
  }

  /** True if the page cache lacks the requested bytes: another window would not help. */
  boolean missed() {
    return missed;
  }

  /** The file's part in memory, valid while this file owns it; null for none. With the lock. */
  ReadAhead.@Nullable Window window() {
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
