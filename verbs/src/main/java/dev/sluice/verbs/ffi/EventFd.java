// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/**
 * A file descriptor through which one thread wakes another thread that waits in {@link
 * FileDescriptors#awaitReadable} (eventfd(2)). Any thread. The creator closes it, after the last
 * {@link #signal}.
 */
public final class EventFd implements AutoCloseable {
  /** {@code EFD_NONBLOCK | EFD_CLOEXEC}: {@link #clear} must not wait for a signal. */
  private static final int EFD_NONBLOCK_CLOEXEC = 0x800 | 0x80000;

  private static final NativeFunction EVENTFD =
      NativeFunction.systemCall("int eventfd(int initval, int flags)");
  private static final NativeFunction READ =
      NativeFunction.systemCall("long read(int fd, ptr buf, long count)");
  private static final NativeFunction WRITE =
      NativeFunction.systemCall("long write(int fd, ptr buf, long count)");

  private final int fd;
  private boolean closed;

  public EventFd() throws VerbsException {
    fd = EVENTFD.call(0, EFD_NONBLOCK_CLOEXEC);
  }

  public int fd() {
    return fd;
  }

  /** Makes the descriptor readable. Does nothing after {@link #close}. */
  public void signal() throws VerbsException {
    transfer(WRITE, 1);
  }

  /** Makes the descriptor unreadable until the next {@link #signal}. */
  public void clear() throws VerbsException {
    transfer(READ, 0);
  }

  /** Adds to the counter or reads it. EAGAIN is fine: it is at its maximum or zero already. */
  private synchronized void transfer(NativeFunction function, long value) throws VerbsException {
    if (!closed) {
      MemorySegment counter = NativeFunction.HEAP.allocate(JAVA_LONG);
      counter.set(JAVA_LONG, 0, value);
      function.succeeds(VerbsException.EAGAIN, fd, counter, (long) Long.BYTES);
    }
  }

  @Override
  public synchronized void close() throws VerbsException {
    if (!closed) {
      closed = true;
      FileDescriptors.close(fd);
    }
  }
}
