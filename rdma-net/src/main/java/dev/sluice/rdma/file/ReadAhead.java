// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the bytes that follow small reads of files. Reducers read one small partition after
 * the other, and a system call for each costs more than sending it.
 *
 * <p>Holds at most 8 MiB. Files that are being read take windows from files without reads for 1 s.
 * A file without a window is read piece by piece. Each byte is delivered once: a second request for
 * it reads the file, so that later changes and disk errors are noticed. Any thread. Each opener of
 * files has one for all of them. Locks are taken in this order: a file's, then a window's, which is
 * only tried.
 */
public final class ReadAhead {
  private static final int WINDOW_BYTES = 16 << 10;
  private static final int WINDOWS = 512;
  private static final long IDLE_NANOS = 1_000_000_000L;

  /** Larger pieces are worth a system call of their own. */
  private static final int MAX_PIECE_BYTES = 2 << 10;

  /** A part of one file in memory. No thread waits for its lock: the holder may wait for a disk. */
  static final class Window {
    private final Lock lock = new ReentrantLock();

    private final byte[] bytes = new byte[WINDOW_BYTES];
    private final BitSet given = new BitSet(WINDOW_BYTES);
    private @Nullable SharedFile owner;
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
        length = 0; // remains 0 if reading fails
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

  /** True if a piece of this size is worth a call of {@link #read}. */
  static boolean isFor(int bytes) {
    return bytes <= MAX_PIECE_BYTES;
  }

  /**
   * Fills the target from the file's window. Refills the window if the piece starts at most a
   * little after the previous piece. The caller holds the file's lock.
   *
   * @param before end of the file's previous piece
   * @param cached true to read only bytes in the page cache
   * @return false if the caller has to read the file, for any reason
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

  /** Looks at one window per call, so that no call takes long. */
  private synchronized @Nullable Window give(SharedFile file, long nowNanos) {
    int at = next;
    next = (next + 1) % WINDOWS;
    if (windows[at] == null) {
      windows[at] = new Window();
    }
    return windows[at].give(file, nowNanos) ? windows[at] : null;
  }
}
