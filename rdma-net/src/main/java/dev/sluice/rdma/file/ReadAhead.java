package dev.sluice.rdma.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * What comes behind small pieces of files, in memory: reducers want one small partition after the
 * other, and a call of the kernel for each costs more than sending it. 8 MiB at most, which files
 * that are being read get from those that nobody has read for a second; a file that gets none is
 * read piece by piece. A byte is given once: who asks for it again, asks the file, so that what
 * became of it on its disk is seen. Belongs to whoever opens the files. Any thread.
 */
public final class ReadAhead {
  private static final int WINDOW_BYTES = 16 << 10;
  private static final int WINDOWS = 512;
  private static final long IDLE_NANOS = 1_000_000_000L;

  /** Larger ones are worth a call of their own. */
  private static final int MAX_PIECE_BYTES = 2 << 10;

  /** A part of a file. Nobody waits for its lock, whose holder perhaps waits for a disk. */
  static final class Window {
    private final Lock lock = new ReentrantLock();

    private final byte[] bytes = new byte[WINDOW_BYTES];
    private final BitSet given = new BitSet(WINDOW_BYTES);
    private SharedFile owner;
    private long position;
    private int length;
    private long usedNanos;

    private boolean give(SharedFile file, long nowNanos) {
      if (!lock.tryLock()) {
        return false;
      }
      try {
        if (owner != null && nowNanos - usedNanos <= IDLE_NANOS) {
          return false;
        }
        owner = file;
        length = 0;
        usedNanos = nowNanos;
        return true;
      } finally {
        lock.unlock();
      }
    }

    private boolean tryRead(
        SharedFile file, long from, ByteBuffer target, boolean fill, boolean cached, long nowNanos)
        throws IOException {
      if (!lock.tryLock()) {
        return false;
      }
      try {
        return owner == file && read(file, from, target, fill, cached, nowNanos);
      } finally {
        lock.unlock();
      }
    }

    private boolean read(
        SharedFile file, long from, ByteBuffer target, boolean fill, boolean cached, long nowNanos)
        throws IOException {
      int count = target.remaining();
      if (fill && !holds(from, count)) {
        length = 0; // where it fails
        length = file.readSome(from, bytes, cached);
        position = from;
        given.clear();
      }
      if (!holds(from, count)) {
        return false;
      }
      usedNanos = nowNanos;
      int at = (int) (from - position);
      given.set(at, at + count);
      target.put(bytes, at, count);
      return true;
    }

    private boolean holds(long from, int count) {
      if (from < position || from + count > position + length) {
        return false;
      }
      int at = (int) (from - position);
      int again = given.nextSetBit(at);
      return again < 0 || again >= at + count;
    }
  }

  private final LongSupplier nanoClock;

  // Guarded by this.
  private final Window[] windows = new Window[WINDOWS];
  private int next;

  public ReadAhead(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Whether it is worth a look at {@link #read}. */
  static boolean isFor(int bytes) {
    return bytes <= MAX_PIECE_BYTES;
  }

  /**
   * Fills the target from the file's window, if it has one, and if the piece is in it or lies a
   * little behind the one before. With the file's lock.
   *
   * @param before where the file's piece before ended
   * @param cached whether the file is read only as far as the page cache has it
   * @return false where the caller has to read the file, for whatever reason
   */
  boolean read(SharedFile file, long before, long from, ByteBuffer target, boolean cached)
      throws IOException {
    boolean behind = from >= before && from - before < WINDOW_BYTES;
    long nowNanos = nanoClock.getAsLong();
    Window known = file.window();
    if (known != null && known.tryRead(file, from, target, behind, cached, nowNanos)) {
      return true;
    }
    Window given = behind && !file.missed() ? give(file, nowNanos) : null;
    if (given == null) {
      return false;
    }
    file.window(given);
    return given.tryRead(file, from, target, true, cached, nowNanos);
  }

  /** One is looked at each time, so that nobody looks for long. */
  private synchronized Window give(SharedFile file, long nowNanos) {
    int at = next;
    next = (next + 1) % WINDOWS;
    if (windows[at] == null) {
      windows[at] = new Window();
    }
    return windows[at].give(file, nowNanos) ? windows[at] : null;
  }
}
