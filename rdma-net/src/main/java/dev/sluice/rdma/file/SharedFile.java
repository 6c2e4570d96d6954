package dev.sluice.rdma.file;

import dev.sluice.rdma.verbs.ffi.FileFd;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An open file that many threads read, small pieces of it ahead ({@link ReadAhead}). Whoever makes
 * it closes it.
 */
public final class SharedFile implements Closeable {
  /** Reads some bytes, as a channel does; 0 where only those that are cached are wanted. */
  private interface Bytes {
    int read(long position, ByteBuffer target, boolean cached) throws IOException;
  }

  private final Closeable file;

  /** For threads that nobody interrupts: that would close a channel. */
  private final Bytes channel;

  /** For all others, who bring arrays. A file has one position for all: under the lock. */
  private final Bytes bytes;

  private final ReadAhead ahead;

  /** Nobody who has the channel waits for it. */
  private final ReentrantLock reading = new ReentrantLock();

  // Guarded by reading.
  private ReadAhead.Window window;
  private long lastEnd;
  private boolean missed;

  private SharedFile(Closeable file, Bytes channel, Bytes bytes, ReadAhead ahead) {
    this.file = file;
    this.channel = channel;
    this.bytes = bytes;
    this.ahead = ahead;
  }

  /**
   * @param file whose owner this is from now on; whether the page cache has something of it, nobody
   *     knows
   * @param ahead of all files that share its memory
   */
  public SharedFile(RandomAccessFile file, ReadAhead ahead) {
    this(
        file,
        (position, target, _) -> file.getChannel().read(target, position),
        (position, target, _) -> read(file, position, target),
        ahead);
  }

  /** Opens it by its descriptor where that works. */
  public static SharedFile open(Path path, ReadAhead ahead) throws IOException {
    FileFd fd = FileFd.tryOpen(path);
    return fd == null
        ? new SharedFile(new RandomAccessFile(path.toFile(), "r"), ahead)
        : new SharedFile(fd, fd::read, fd::read, ahead);
  }

  private static int read(RandomAccessFile file, long position, ByteBuffer target)
      throws IOException {
    file.seek(position);
    int count = file.read(target.array(), target.position(), target.remaining());
    target.position(target.position() + Math.max(0, count));
    return count;
  }

  /**
   * Any thread, which may be interrupted.
   *
   * @throws EOFException when the file has become shorter
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
   * Fills the buffer. On a thread that nobody interrupts.
   *
   * @throws EOFException when the file has become shorter
   */
  public void read(long position, ByteBuffer target) throws IOException {
    read(position, target, false);
  }

  /**
   * The same.
   *
   * @param cached whether nobody is to wait for the disk, where its file system can tell
   * @return false where the page cache lacks something; the buffer has some of it then
   */
  public boolean read(long position, ByteBuffer target, boolean cached) throws IOException {
    return tryReadAhead(position, target, cached) || readAll(channel, position, target, cached);
  }

  /** Not while another thread has the lock, which perhaps waits for the disk. */
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
   * Fills the buffer, and keeps nothing for others. On a thread that nobody interrupts.
   *
   * @throws EOFException when the file has become shorter
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
        throw new EOFException("the file ends at " + position);
      }
      if (count == 0) {
        return false;
      }
      position += count;
    }
    return true;
  }

  /** Some of what is there, which is nothing at the file's end. With the file's lock. */
  int readSome(long position, byte[] target, boolean cached) throws IOException {
    int count = Math.max(0, bytes.read(position, ByteBuffer.wrap(target), cached));
    missed = cached && count < target.length;
    if (missed) {
      lastEnd = position; // It is asked for once more, by who may wait, and read ahead then.
    }
    return count;
  }

  /** Whether the page cache lacks what is to be read: another window would not have it either. */
  boolean missed() {
    return missed;
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
